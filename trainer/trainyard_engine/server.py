"""vLLM's own API server, with a warm-up before its socket listens."""

import asyncio
from argparse import Namespace
from functools import partial
from typing import cast

import uvloop
from vllm import envs
from vllm.entrypoints.launchers.api_server.entry import build_async_engine_client
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.entrypoints.launchers.launcher import create_server_socket, setup_server
from vllm.logger import configure_logging_from_args
from vllm.lora.resolver import LoRAResolverRegistry
from vllm.platforms import current_platform
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm.v1.metrics.prometheus import get_prometheus_registry

from trainyard_artifacts.store import ArtifactStore
from trainyard_engine.arguments import build_arguments
from trainyard_engine.config import ConfigError, Settings, leave_hub
from trainyard_engine.engine_forks import fork_engine_process
from trainyard_engine.grammars.checker import GrammarChecker
from trainyard_engine.grammars.compiler import Tokenizer, open_check
from trainyard_engine.grammars.result_cache import ResultCache
from trainyard_engine.metrics import serve_metrics
from trainyard_engine.parsers.choice import choose_parsers
from trainyard_engine.reasoning_content import write_reasoning_content
from trainyard_engine.resolver import CheckpointResolver
from trainyard_engine.retirement import unload_over_http
from trainyard_engine.serving import build_and_serve
from trainyard_engine.warm_up import warm_up

# Settings that would change the process, its port, or plain HTTP on it.
OTHER_SERVERS = (
    "ssl_keyfile",
    "ssl_certfile",
    "ssl_ca_certs",
    "ssl_cert_reqs",
    "ssl_ciphers",
    "enable_ssl_refresh",
    "uds",
    "grpc",
    "headless",
    "api_server_count",
)
# Of the engine's cache of grammars, which measures sizes a little differently.
CACHE_SHARE = 0.8


def run_server(settings: Settings, extra: list[str], store: ArtifactStore) -> None:
    """Serves until SIGTERM."""
    parsed = parse_arguments(build_arguments(settings, [*sleep_arguments(settings), *extra]))
    configure_logging_from_args(parsed)
    choose_parsers(parsed, settings)
    write_reasoning_content()
    unload = unload_over_http(parsed.host, parsed.port, settings.keys[0])
    LoRAResolverRegistry.register_resolver("trainyard", CheckpointResolver(store, unload))
    validate_parsed_serve_args(parsed)
    fork_engine_process()
    uvloop.run(serve(parsed, settings, open_checker(parsed)))


def open_checker(parsed: Namespace) -> GrammarChecker:
    name, revision = parsed.tokenizer or parsed.model, parsed.tokenizer_revision or parsed.revision
    tokenizer = Tokenizer(name, revision, parsed.trust_remote_code)
    results = ResultCache(int(envs.VLLM_XGRAMMAR_CACHE_MB * 2**20 * CACHE_SHARE))
    return GrammarChecker(partial(open_check, tokenizer), results)


def sleep_arguments(settings: Settings) -> list[str]:
    """An engine that shares its GPU can free it. On processors it only pauses."""
    can_sleep = settings.device_socket is not None and current_platform.is_sleep_mode_available()
    return ["--enable-sleep-mode"] if can_sleep else []


def parse_arguments(arguments: list[str]) -> Namespace:
    parser = make_arg_parser(FlexibleArgumentParser(prog="trainyard_engine"))
    parsed = cast(Namespace, parser.parse_args(arguments))
    reject_other_servers(parser, parsed)
    # A grammar is checked with this compiler. By default, vLLM would fall back to others.
    parsed.structured_outputs_config.backend = "xgrammar"
    return parsed


def reject_other_servers(parser: FlexibleArgumentParser, parsed: Namespace) -> None:
    """Rejects settings with which vLLM itself would serve differently. This server ignores them, so it must not accept
    them."""
    for name in OTHER_SERVERS:
        if getattr(parsed, name) != parser.get_default(name):
            raise ConfigError(
                f"--{name.replace('_', '-')} is not supported: the apiserver, the operator and the pod's probe connect "
                "to engines with plain HTTP on one port. Remove it, and use the cluster's network to encrypt traffic "
                "between pods."
            )


async def serve(arguments: Namespace, settings: Settings, checker: GrammarChecker) -> None:
    """Binds the sockets first, so that a port in use fails at once. They listen after the warm-up."""
    _, listener = setup_server(arguments, reuse_port=False)
    metrics_listener = create_server_socket((arguments.host, settings.metrics_port), reuse_port=False)
    metrics = asyncio.create_task(serve_metrics(get_prometheus_registry(), metrics_listener))
    try:
        async with build_async_engine_client(arguments) as engine:
            if "generate" in await engine.get_supported_tasks():
                await warm_up(engine, settings.lora)
            leave_hub()
            ended = await build_and_serve(engine, checker, listener, arguments, settings)
        await ended
    finally:
        checker.close()
        metrics.cancel()
        listener.close()
        metrics_listener.close()

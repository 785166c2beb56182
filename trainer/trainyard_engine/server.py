"""vLLM's own API server, with the warm-up before its socket listens."""

import signal
from argparse import Namespace
from typing import cast

import uvloop
from vllm.entrypoints.launchers.api_server.entry import build_and_serve, build_async_engine_client
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.entrypoints.launchers.launcher import setup_server
from vllm.logger import configure_logging_from_args
from vllm.lora.resolver import LoRAResolverRegistry
from vllm.utils.argparse_utils import FlexibleArgumentParser

from trainyard_artifacts.store import ArtifactStore
from trainyard_engine.resolver import CheckpointResolver
from trainyard_engine.retirement import unload_over_http
from trainyard_engine.warm_up import warm_up


def run_server(arguments: list[str], store: ArtifactStore, key: str | None) -> None:
    """Serves until SIGTERM. `key` is what clients of vLLM's interface must show."""
    parser = make_arg_parser(FlexibleArgumentParser(prog="trainyard_engine"))
    parsed = cast(Namespace, parser.parse_args(arguments))
    unload = unload_over_http(parsed.host, parsed.port, key)
    LoRAResolverRegistry.register_resolver("trainyard", CheckpointResolver(store, unload))
    configure_logging_from_args(parsed)
    validate_parsed_serve_args(parsed)
    uvloop.run(serve(parsed))


async def serve(arguments: Namespace) -> None:
    """The socket is bound first, so that a taken port shows at once, and listens when everything is warm."""
    signal.signal(signal.SIGTERM, interrupt_start)  # vLLM replaces it once it serves
    address, socket = setup_server(arguments, reuse_port=False)
    try:
        async with build_async_engine_client(arguments) as engine:
            await warm_up(engine, arguments.model)
            ended = await build_and_serve(engine, address, socket, arguments)
        await ended
    finally:
        socket.close()


def interrupt_start(*_: object) -> None:
    raise KeyboardInterrupt

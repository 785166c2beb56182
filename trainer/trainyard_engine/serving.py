"""vLLM's app behind this engine's own middleware."""

from argparse import Namespace
from collections.abc import Awaitable
from socket import socket

from fastapi import FastAPI
from starlette.datastructures import State
from uvicorn.config import LOGGING_CONFIG
from vllm import envs
from vllm.engine.protocol import EngineClient
from vllm.entrypoints.launchers.api_server.app_state import init_app_state
from vllm.entrypoints.launchers.app import build_app
from vllm.entrypoints.launchers.launcher import serve_http
from vllm.entrypoints.launchers.utils.server_utils import get_uvicorn_log_config
from vllm.entrypoints.openai.models.serving import OpenAIServingModels

from trainyard_engine.access import AccessMiddleware
from trainyard_engine.capacity import CapacityMiddleware
from trainyard_engine.config import Settings
from trainyard_engine.dead_engine import DeadEngineMiddleware
from trainyard_engine.device_turns import divide_time, lend_device
from trainyard_engine.fairness.executor import share_fairly
from trainyard_engine.fairness.tenants import TenantMiddleware, name_tenants
from trainyard_engine.grammars.checker import GrammarChecker
from trainyard_engine.grammars.middleware import GrammarMiddleware, guard_engine
from trainyard_engine.kept_adapters import add_kept_route
from trainyard_engine.loaded_adapters import LoadedAdapters, count_running
from trainyard_engine.parsers.tolerant import make_tolerant
from trainyard_engine.replies import extend_replies
from trainyard_engine.wanted_adapters import load_wanted_adapters

# At a shutdown, responses have had their time when the engine ends. Complete ones get this long to be sent. Others
# would wait for the dead engine until the pod is killed.
SEND_SECONDS = 10


async def build_and_serve(
    engine: EngineClient, checker: GrammarChecker, listener: socket, arguments: Namespace, settings: Settings
) -> Awaitable[None]:
    """Loads the adapters that clients use, and starts to serve. Returns an awaitable that ends after SIGTERM."""
    name_tenants(engine)
    guard_engine(engine, checker)
    share_fairly(engine.renderer)
    app = await build_vllm_app(engine, arguments)
    adapters = await load_adapters(engine, app.state.openai_serving_models, settings)
    add_kept_route(app, adapters.keep)
    if getattr(app.state, "openai_serving_chat", None):  # an engine that makes embeddings has no chats
        tolerate_broken_calls(app.state)
        extend_replies(app.state)
    # vLLM has already built its middleware stack. These come before all of it.
    stack = app.middleware_stack or app.build_middleware_stack()
    marked = DeadEngineMiddleware(TenantMiddleware(GrammarMiddleware(stack)), engine)
    guarded = AccessMiddleware(marked, settings.keys)
    app.middleware_stack = CapacityMiddleware(guarded, count_max_requests(engine))
    if settings.device_socket:
        shares = divide_time(settings.turns_seconds, settings.trainer_time_percent)
        app.state.device_server = await lend_device(
            engine, settings.device_socket, shares
        )  # it ends when nothing has it
    return await serve_http(
        app,
        sock=listener,
        host=arguments.host,
        port=arguments.port,
        log_level=arguments.uvicorn_log_level,
        access_log=not arguments.disable_uvicorn_access_log,
        timeout_keep_alive=envs.VLLM_HTTP_TIMEOUT_KEEP_ALIVE,
        timeout_graceful_shutdown=SEND_SECONDS,
        h11_max_incomplete_event_size=arguments.h11_max_incomplete_event_size,
        h11_max_header_count=arguments.h11_max_header_count,
        log_config=get_uvicorn_log_config(arguments) or LOGGING_CONFIG,
    )


async def load_adapters(engine: EngineClient, models: OpenAIServingModels, settings: Settings) -> LoadedAdapters:
    """Bounds the adapters in memory, and loads those in use."""
    lora = engine.vllm_config.lora_config
    max_adapters = (lora and lora.max_cpu_loras) or settings.max_cpu_loras
    # A batch may need as many others.
    max_kept = max_adapters - ((lora and lora.max_loras) or settings.max_loras)
    adapters = LoadedAdapters(engine, max_adapters, max(0, max_kept))
    adapters.update(models.lora_requests)
    models.lora_requests = adapters
    count_running(engine, adapters)
    await load_wanted_adapters(settings, models.resolve_lora, max_adapters)
    return adapters


def count_max_requests(engine: EngineClient) -> int:
    config = engine.vllm_config
    return config.scheduler_config.max_num_seqs * config.parallel_config.data_parallel_size


def tolerate_broken_calls(state: State) -> None:
    """Replaces vLLM's parsers wherever it has kept them."""
    state.openai_serving_chat.parser_cls = make_tolerant(state.openai_serving_chat.parser_cls)
    state.openai_serving_responses.parser = make_tolerant(state.openai_serving_responses.parser)
    state.online_renderer.parser = make_tolerant(state.online_renderer.parser)


async def build_vllm_app(engine: EngineClient, arguments: Namespace) -> FastAPI:
    tasks = await engine.get_supported_tasks()
    app = build_app(arguments, tasks, engine.model_config)
    await init_app_state(engine, app.state, arguments, tasks)
    return app

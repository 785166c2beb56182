"""The adapters that stay in memory while others are loaded, in a worker of vLLM and over HTTP."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field
from vllm.lora.model_manager import LRUCacheLoRAModelManager

from trainyard_engine.access import KEPT_PATH

# The maximum of spec.engine.maxCpuLoras.
MAX_NAMES = 10_000


class KeptAdapters(BaseModel):
    """The adapters to keep, the most important first."""

    names: list[str] = Field(max_length=MAX_NAMES)


def add_kept_route(app: FastAPI, keep: Callable[[Sequence[str]], Coroutine[Any, Any, None]]) -> None:
    async def put_kept(kept: KeptAdapters) -> dict[str, Any]:
        await keep(kept.names)
        return {}

    app.add_api_route(KEPT_PATH, put_kept, methods=["PUT"])


def keep_in_memory(manager: LRUCacheLoRAModelManager, adapters: Sequence[int]) -> None:
    """Replaces the adapters that the memory of a worker keeps. One that is not loaded is left out."""
    memory = manager._registered_adapters
    for number in memory.pinned_items - set(adapters):
        memory._unpin(number)
    for number in adapters:
        if number in memory:
            memory.pin(number)

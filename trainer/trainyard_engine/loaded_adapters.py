"""Which adapters the engine has in memory. vLLM's own table of names only grows."""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from vllm.engine.protocol import EngineClient
from vllm.lora.request import LoRARequest

logger = logging.getLogger("vllm.trainyard")


class LoadedAdapters(OrderedDict[str, LoRARequest]):
    """vLLM's table of adapters by name, least recently used first. An adapter that leaves it leaves the memory too,
    when its requests have ended. So `/v1/models` lists what is in memory.

    vLLM's workers drop the least recently used adapter by themselves when another one does not fit. That is the same
    one: running requests use theirs all the time. An adapter that cannot be loaded displaces none.

    Kept adapters are never displaced. `max_kept` leaves room for the adapters of one batch.
    """

    def __init__(self, engine: EngineClient, max_adapters: int, max_kept: int) -> None:
        super().__init__()
        self.engine = engine
        self.max_adapters = max_adapters
        self.max_kept = max_kept
        self.kept: frozenset[str] = frozenset()
        self.running: Counter[int] = Counter()
        self.leaving: set[int] = set()
        self.changes: set[asyncio.Task[None]] = set()

    def __getitem__(self, name: str) -> LoRARequest:
        self.move_to_end(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, adapter: LoRARequest) -> None:
        super().__setitem__(name, adapter)
        self.move_to_end(name)
        if name in self.kept:
            self.start(self.pin_kept())
        while len(self) > self.max_adapters:
            del self[self.pick_oldest()]

    def __delitem__(self, name: str) -> None:
        number = super().__getitem__(name).lora_int_id
        super().__delitem__(name)
        if self.running[number]:
            self.leaving.add(number)
        else:
            self.start(self.remove(number))

    def pick_oldest(self) -> str:
        """Prefers adapters without running requests, and takes no kept one."""
        free = [name for name in self if name not in self.kept]
        idle = (name for name in free if not self.running[super(LoadedAdapters, self).__getitem__(name).lora_int_id])
        return next(idle, free[0])

    async def keep(self, names: Sequence[str]) -> None:
        """Keeps these adapters and no others, loaded now or later. The most important ones come first."""
        self.kept = frozenset(names[: self.max_kept])
        await self.pin_kept()

    async def pin_kept(self) -> None:
        """vLLM's workers keep the same adapters."""
        numbers = [adapter.lora_int_id for name, adapter in self.items() if name in self.kept]
        await self.engine.collective_rpc("keep_adapters", args=(numbers,))

    def begin(self, adapter: LoRARequest) -> None:
        self.running[adapter.lora_int_id] += 1

    def end(self, adapter: LoRARequest) -> None:
        number = adapter.lora_int_id
        self.running[number] -= 1
        if self.running[number] > 0:
            return
        del self.running[number]
        if number in self.leaving:
            self.leaving.discard(number)
            self.start(self.remove(number))

    def start(self, change: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(change)
        self.changes.add(task)
        task.add_done_callback(self.changes.discard)

    async def remove(self, number: int) -> None:
        try:
            await self.engine.remove_lora(number)  # pyright: ignore[reportAttributeAccessIssue]  # the one that serves can
        except Exception:
            # vLLM removes it when it needs the memory.
            logger.exception("An adapter stays in memory for now")


def count_running(engine: EngineClient, adapters: LoadedAdapters) -> None:
    """Has the table know which adapters running requests use."""
    for method in ("generate", "encode"):
        setattr(engine, method, counted(getattr(engine, method), adapters))


def counted(method: Any, adapters: LoadedAdapters) -> Any:
    async def run(*positional: Any, lora_request: LoRARequest | None = None, **named: Any) -> AsyncGenerator[Any]:
        if lora_request is not None:
            adapters.begin(lora_request)
        try:
            async with aclosing(method(*positional, lora_request=lora_request, **named)) as outputs:
                async for output in outputs:
                    yield output
        finally:
            if lora_request is not None:
                adapters.end(lora_request)

    return run

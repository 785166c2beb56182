"""What an engine has to do, and what must wait while it sleeps."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from vllm.engine.protocol import EngineClient


class EngineWork:
    """Counts requests and changes of adapters, waiting ones included.

    vLLM itself queues requests while it sleeps. A change of adapters would write to memory that is gone, so it waits
    here.
    """

    def __init__(self) -> None:
        self.pending = 0
        self.idle_since = time.monotonic()
        self.changing = 0
        self.awake = asyncio.Event()
        self.awake.set()
        self.unchanging = asyncio.Event()
        self.unchanging.set()

    def measure_idle(self) -> float:
        """For how many seconds nothing was to do."""
        return 0.0 if self.pending else time.monotonic() - self.idle_since

    async def close(self) -> None:
        """Lets no change of adapters begin, and waits for those that have begun."""
        self.awake.clear()
        await self.unchanging.wait()

    def open(self) -> None:
        self.awake.set()

    def begin(self) -> None:
        self.pending += 1

    def end(self) -> None:
        self.pending -= 1
        self.idle_since = time.monotonic()

    @asynccontextmanager
    async def change(self) -> AsyncIterator[None]:
        self.begin()
        try:
            while not self.awake.is_set():
                await self.awake.wait()
            self.changing += 1
            self.unchanging.clear()
            try:
                yield
            finally:
                self.changing -= 1
                if not self.changing:
                    self.unchanging.set()
        finally:
            self.end()


def watch_work(engine: EngineClient) -> EngineWork:
    """Has every request and every change of adapters counted."""
    work = EngineWork()
    for name in ("generate", "encode"):
        setattr(engine, name, count_requests(getattr(engine, name), work))
    for name in ("add_lora", "remove_lora"):
        setattr(engine, name, count_changes(getattr(engine, name), work))
    return work


def count_requests(method: Any, work: EngineWork) -> Any:
    async def run(*positional: Any, **named: Any) -> AsyncGenerator[Any]:
        work.begin()
        try:
            async with aclosing(method(*positional, **named)) as outputs:
                async for output in outputs:
                    yield output
        finally:
            work.end()

    return run


def count_changes(method: Any, work: EngineWork) -> Any:
    async def run(*positional: Any, **named: Any) -> Any:
        async with work.change():
            return await method(*positional, **named)

    return run

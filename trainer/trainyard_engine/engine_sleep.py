"""Takes an engine off its device, and puts it back."""

import asyncio

from vllm.engine.protocol import EngineClient

# How long running requests may take to end. Those that take longer are interrupted, and go on after the sleep.
DRAIN_SECONDS = 5.0
# Weights move to the memory of the processor, and the KV cache is dropped.
SLEEP_LEVEL = 1


class EngineSleep:
    """On a GPU, the engine sleeps. On processors it only pauses: there is no memory to free."""

    def __init__(self, engine: EngineClient, drain_seconds: float = DRAIN_SECONDS) -> None:
        self.engine = engine
        self.drain_seconds = drain_seconds
        self.frees_memory = engine.model_config.enable_sleep_mode

    async def begin(self) -> None:
        """New requests wait from now on. Returns when the device is free."""
        # Not cancelled after the time: vLLM then ends it itself, because interrupted requests do not run.
        drained = asyncio.ensure_future(self.engine.pause_generation(mode="wait", clear_cache=False))
        await asyncio.wait([drained], timeout=self.drain_seconds)
        if not drained.done():
            await self.engine.pause_generation(mode="keep", clear_cache=False)
        await drained
        if self.frees_memory:
            await self.engine.sleep(SLEEP_LEVEL, "keep")

    async def end(self) -> None:
        if self.frees_memory:
            await self.engine.wake_up()
        await self.engine.resume_generation()

"""Lends the engine's device to the trainer in its pod, in turns."""

import asyncio
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path

from vllm.engine.protocol import EngineClient

from trainyard_base_model.device_turns import GRANTED, RELEASE, WANT, YIELD
from trainyard_engine.connected_trainer import ConnectedTrainer, accept_trainer
from trainyard_engine.engine_sleep import EngineSleep
from trainyard_engine.engine_work import EngineWork, watch_work

logger = logging.getLogger("vllm.trainyard")

POLL_SECONDS = 0.05
# Clients send the next chat soon after an answer. Without this time, such a chat would wait for a whole turn.
IDLE_SECONDS = 1.0
# So late may one pass of a trainer be. After it, the process is ended, because chats wait.
MAX_OVERTIME_SECONDS = 300.0


@dataclass(frozen=True)
class Shares:
    """How long a turn lasts while the other side waits, in seconds."""

    engine: float
    trainer: float


def divide_time(both_turns_seconds: float, trainer_percent: int) -> Shares:
    trainer = both_turns_seconds * trainer_percent / 100
    return Shares(both_turns_seconds - trainer, trainer)


class DeviceTurns:
    """The engine has the device until a trainer asks for it, and its share is used or it has nothing to do. The trainer
    has it until it has nothing to do, or requests wait and its share is used."""

    def __init__(self, work: EngineWork, sleep: EngineSleep, shares: Shares) -> None:
        self.work = work
        self.sleep = sleep
        self.shares = shares
        self.awake_since = time.monotonic()
        self.lending = asyncio.Lock()

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trainer = accept_trainer(reader, writer)
        try:
            while await trainer.read() == WANT:
                # A trainer may start again before the end of the last one is noticed.
                async with self.lending:
                    await self.lend(trainer)
        finally:
            trainer.close()

    async def lend(self, trainer: ConnectedTrainer) -> None:
        await self.wait_for_share()
        began = time.monotonic()
        await self.fall_asleep()
        granted = time.monotonic()
        await self.wait_for_release(trainer)
        released = time.monotonic()
        await self.wake()
        logger.info(
            "The trainer had the device for %.2f s. The engine had left it in %.2f s, and returned in %.2f s",
            released - granted,
            granted - began,
            self.awake_since - released,
        )

    async def wait_for_share(self) -> None:
        while self.work.measure_idle() < IDLE_SECONDS and time.monotonic() - self.awake_since < self.shares.engine:
            await asyncio.sleep(POLL_SECONDS)

    async def fall_asleep(self) -> None:
        try:
            await self.work.close()
            await self.sleep.begin()
        except Exception as cause:
            end_process("The engine cannot leave its device", cause)

    async def wake(self) -> None:
        try:
            await self.sleep.end()
        except Exception as cause:
            end_process("The engine cannot return to its device", cause)
        self.work.open()
        self.awake_since = time.monotonic()

    async def wait_for_release(self, trainer: ConnectedTrainer) -> None:
        """Returns when the trainer has left the device, or has ended."""
        granted = time.monotonic()
        answer = asyncio.ensure_future(trainer.read())
        await trainer.send(GRANTED)
        while not answer.done() and not (self.work.pending and time.monotonic() - granted >= self.shares.trainer):
            await asyncio.wait([answer], timeout=POLL_SECONDS)
        if not answer.done():
            await trainer.send(YIELD)
            await asyncio.wait([answer], timeout=MAX_OVERTIME_SECONDS)
        if not answer.done():
            logger.error("The trainer is ended: it keeps the device %s s longer than its share", MAX_OVERTIME_SECONDS)
            trainer.kill()
        if await answer != RELEASE:
            await trainer.wait_for_exit()
            logger.warning("The trainer has ended in its turn")


def end_process(why: str, cause: Exception) -> None:
    """Otherwise the engine would stay asleep. Kubernetes starts the container again."""
    logger.error("%s: its process ends", why, exc_info=cause)
    os._exit(1)


async def lend_device(engine: EngineClient, path: Path, shares: Shares) -> asyncio.Server:
    """Lets the trainer of the pod ask for the device from now on."""
    turns = DeviceTurns(watch_work(engine), EngineSleep(engine), shares)
    return await asyncio.start_unix_server(turns.serve_connection, path)

"""Who has the device when. Trainers are processes, because the engine looks at the process of a connection."""

import asyncio
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from typing import cast

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from trainyard_engine import device_turns
from trainyard_engine.device_turns import DeviceTurns, Shares, divide_time
from trainyard_engine.engine_sleep import EngineSleep
from trainyard_engine.engine_work import EngineWork

SHARE = 0.4
# Takes a turn, tells when, and returns it when it is asked to or after some seconds.
TRAINER = """
import select, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
for seconds in map(float, sys.argv[2:]):
    connection.sendall(b"w")
    print(connection.recv(1).decode(), flush=True)
    if select.select([connection], [], [], seconds)[0]:
        print(connection.recv(1).decode(), flush=True)
    if seconds == 60:
        select.select([], [], [], seconds)
    connection.sendall(b"r")
print("end", flush=True)
"""


class Device(EngineSleep):
    """Records when the engine leaves its device and returns to it."""

    def __init__(self):
        self.events = []
        self.is_away = False

    async def begin(self):
        self.is_away = True
        self.events.append(("away", time.monotonic()))

    async def end(self):
        self.is_away = False
        self.events.append(("back", time.monotonic()))


class LentEngine:
    def __init__(self, path):
        self.path, self.work, self.device = path, EngineWork(), Device()
        self.turns = DeviceTurns(self.work, self.device, Shares(SHARE, SHARE))

    def start_trainer(self, *seconds: float) -> subprocess.Popen:
        command = [sys.executable, "-c", TRAINER, str(self.path), *map(str, seconds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    async def wait_until(self, is_so):
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while not is_so():
                await asyncio.sleep(0.01)

    async def finish(self, trainer) -> list[str]:
        """What the trainer has printed until its end."""
        output, _ = await asyncio.to_thread(trainer.communicate)
        await self.wait_until(lambda: not self.device.is_away)
        return output.split()

    def measure(self) -> list[float]:
        """The seconds of each time away."""
        times = [when for _, when in self.device.events]
        return [back - away for away, back in zip(times[::2], times[1::2], strict=True)]


@asynccontextmanager
async def open_turns(folder):
    turns = LentEngine(folder / "device")
    async with await asyncio.start_unix_server(turns.turns.serve_connection, turns.path):
        yield turns


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(device_turns, "IDLE_SECONDS", 0.1)

    def run_test(test):
        async def with_turns():
            async with open_turns(tmp_path) as turns:
                await test(turns)

        asyncio.run(with_turns())

    return run_test


def test_time_is_divided_by_the_share_of_the_trainer():
    assert divide_time(20, 25) == Shares(15, 5)


def test_a_trainer_alone_has_the_device_for_as_long_as_it_wants(run):
    async def test(turns):
        assert await turns.finish(turns.start_trainer(3 * SHARE)) == ["g", "end"]
        assert turns.measure()[0] >= 3 * SHARE

    run(test)


def test_a_trainer_is_asked_for_the_device_when_requests_wait_and_its_share_is_used(run):
    async def test(turns):
        trainer = turns.start_trainer(MAX_WAIT_SECONDS)
        await turns.wait_until(lambda: turns.device.is_away)
        turns.work.begin()
        assert await turns.finish(trainer) == ["g", "y", "end"]
        assert SHARE <= turns.measure()[0] < MAX_WAIT_SECONDS

    run(test)


def test_an_engine_with_requests_keeps_the_device_for_its_share(run):
    async def test(turns):
        turns.work.begin()
        trainer = turns.start_trainer(MAX_WAIT_SECONDS, MAX_WAIT_SECONDS)
        assert await turns.finish(trainer) == ["g", "y", "g", "y", "end"]
        (_, back), (_, away) = turns.device.events[1:3]
        assert away - back >= SHARE

    run(test)


def test_the_engine_returns_when_its_trainer_is_killed_and_lends_to_the_next(run):
    async def test(turns):
        trainer = turns.start_trainer(60)
        assert await asyncio.to_thread(trainer.stdout.readline) == "g\n"
        trainer.kill()
        await turns.finish(trainer)
        assert await turns.finish(turns.start_trainer(0)) == ["g", "end"]

    run(test)


def test_a_trainer_that_keeps_the_device_is_killed(run, monkeypatch):
    monkeypatch.setattr(device_turns, "MAX_OVERTIME_SECONDS", 0.2)

    async def test(turns):
        turns.work.begin()
        trainer = turns.start_trainer(60)
        assert await turns.finish(trainer) == ["g", "y"]
        assert trainer.returncode == -9

    run(test)


def test_an_engine_that_cannot_return_ends(run, monkeypatch):
    ends = []
    monkeypatch.setattr(device_turns.os, "_exit", ends.append)

    async def fail():
        raise MemoryError("no memory")

    async def test(turns):
        turns.device.end, end = fail, turns.device.end
        trainer = turns.start_trainer(0)
        await turns.wait_until(lambda: ends)
        await end()
        await turns.finish(trainer)

    run(test)
    assert ends == [1]


def test_adapters_do_not_change_while_the_engine_is_away():
    class Engine:
        calls: list[str] = []  # noqa: RUF012  # of this test

        async def add_lora(self, adapter):
            self.calls.append(adapter)

        async def generate(self, prompt):
            yield prompt

        remove_lora, encode = add_lora, generate

    async def test():
        engine = Engine()
        work = device_turns.watch_work(cast(device_turns.EngineClient, engine))
        await work.close()
        waiting = asyncio.ensure_future(engine.add_lora("late"))
        await asyncio.sleep(0.05)
        assert (engine.calls, work.pending) == ([], 1)
        work.open()
        await waiting
        async for _ in engine.generate("a prompt"):
            assert work.pending == 1
        assert (engine.calls, work.pending) == (["late"], 0)

    asyncio.run(test())

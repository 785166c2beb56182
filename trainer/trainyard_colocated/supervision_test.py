"""The supervisor's programs: which of them end, and which start again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from trainyard_colocated.environment import select_engine_env, select_trainer_env

# Each program appends its name and process id to a file when it starts, and its name when SIGTERM ends it.
PROGRAM = """
import os, signal, sys, time
def tell(text):
    with open("events", "a") as file:
        file.write(text + "\\n")
def end(*_):
    tell(f"{sys.argv[1]} ends")
    sys.exit(int(sys.argv[2]))
signal.signal(signal.SIGTERM, end)
tell(f"{sys.argv[1]} {os.getpid()}")
time.sleep(600)
"""
SUPERVISOR = """
import asyncio, os, sys
from trainyard_colocated.programs import Program
from trainyard_colocated.supervision import supervise
make = lambda name, code: Program(name, [sys.executable, "-c", sys.argv[1], name, code], os.environ)
sys.exit(asyncio.run(supervise(make("engine", "3"), make("trainer", "0"))))
"""


class Container:
    def __init__(self, folder: Path) -> None:
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-c", SUPERVISOR, PROGRAM]
        self.file = folder / "events"
        self.process = subprocess.Popen(command, cwd=folder, env=env)

    def read(self) -> list[list[str]]:
        return [line.split() for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def wait_for_starts(self, name: str, count: int) -> list[int]:
        """The process ids of the starts of a program."""
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while True:
            found = [int(value) for program, value in self.read() if program == name and value != "ends"]
            if len(found) >= count:
                return found
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def container(tmp_path):
    container = Container(tmp_path)
    yield container
    container.process.kill()
    container.process.wait()


def test_a_trainer_that_is_killed_starts_again_beside_the_same_engine(container):
    container.wait_for_starts("engine", 1)
    os.kill(container.wait_for_starts("trainer", 1)[0], signal.SIGKILL)
    container.wait_for_starts("trainer", 2)
    assert len(container.wait_for_starts("engine", 1)) == 1


def test_at_sigterm_the_trainer_ends_before_the_engine_whose_exit_code_counts(container):
    container.wait_for_starts("engine", 1)
    container.wait_for_starts("trainer", 1)
    container.process.terminate()
    assert container.process.wait(MAX_WAIT_SECONDS) == 3
    assert container.read()[2:] == [["trainer", "ends"], ["engine", "ends"]]


def test_the_container_ends_with_its_engine(container):
    container.wait_for_starts("trainer", 1)
    os.kill(container.wait_for_starts("engine", 1)[0], signal.SIGKILL)
    assert container.process.wait(MAX_WAIT_SECONDS) == 128 + signal.SIGKILL
    assert container.read()[2:] == [["trainer", "ends"]]


def test_the_trainer_has_variables_of_its_own_and_no_keys_of_the_engine():
    env = {"A": "engine", "B": "both", "VLLM_API_KEY": "key", "TRAINER_ENV_A": "trainer", "TRAINER_ENV_C": "own"}
    assert select_engine_env(env) == {"A": "engine", "B": "both", "VLLM_API_KEY": "key"}
    assert select_trainer_env(env) == {"A": "trainer", "B": "both", "C": "own"}

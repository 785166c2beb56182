"""Trainers in separate processes, forked from a process that has imported everything. A pytest plugin.

Importing torch and transformers takes many times as long as a short job. A trainer runs its real `main` and loads the
base model itself. That process is forked from pytest after the collection: everything is imported then, and no test
has started a thread or changed anything.
"""

import gc
import multiprocessing
import os
import re
import runpy
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import resolve_name
from typing import NoReturn

import pytest

from testing.deadlines import MAX_WAIT_SECONDS

MODEL = Path(__file__).parents[1] / "models" / "tiny-chat"


class Trainer:
    def __init__(self, fork_server, pid: int, log: Path) -> None:
        self.fork_server = fork_server
        self.pid = pid
        self.log = log
        self.exit_code: int | None = None

    def send(self, number: int) -> None:
        if self.exit_code is None:
            os.kill(self.pid, number)  # the process is not reaped, so its id is still its own

    def kill(self) -> None:
        self.send(signal.SIGKILL)

    def is_over(self) -> bool:
        if self.exit_code is None:
            self.exit_code = self.fork_server.ask({"reap": self.pid})
        return self.exit_code is not None

    def wait(self, seconds: float = MAX_WAIT_SECONDS) -> int:
        """Returns the exit code, which is negative for a signal."""
        deadline = time.monotonic() + seconds
        while not self.is_over():
            assert time.monotonic() < deadline, f"the trainer did not end: {self.log.read_text()}"
            time.sleep(0.005)
        return self.exit_code


def wait_until_ending(pid: int) -> None:
    """Waits until the trainer has handled SIGTERM: it ignores the signal from then on, as the kernel shows. Its next
    action is to ask its jobs to stop."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < deadline and (ignored := read_ignored(pid)) is not None:
        if ignored >> (signal.SIGTERM - 1) & 1:
            break
        time.sleep(0.005)
    time.sleep(0.3)


def read_ignored(pid: int) -> int | None:
    """The mask of the signals that a process ignores. None means that it has ended."""
    try:
        found = re.search(r"^SigIgn:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1], 16) if found else None


class ForkServer:
    """Starts trainers. It has no threads, so a fork of it is a whole process."""

    def __init__(self) -> None:
        # A collection of garbage would write into the memory of all that is imported, which forks share until then.
        gc.collect()
        gc.freeze()
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve_forks, args=(theirs, self.connection), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, order: dict) -> object:
        self.connection.send(order)
        return self.connection.recv()

    def start(self, env: dict, log: Path, main: str) -> Trainer:
        log.touch()
        return Trainer(self, self.ask({"env": env, "log": str(log), "main": main}), log)

    def close(self) -> None:
        self.connection.close()
        self.process.join()


FORK_SERVER = pytest.StashKey[ForkServer]()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.config.option.collectonly:
        session.config.stash[FORK_SERVER] = ForkServer()


def pytest_unconfigure(config: pytest.Config) -> None:
    if FORK_SERVER in config.stash:
        config.stash[FORK_SERVER].close()


@pytest.fixture(scope="session")
def fork_server(pytestconfig: pytest.Config) -> ForkServer:
    return pytestconfig.stash[FORK_SERVER]


@pytest.fixture
def trainer_env(status_server, tmp_path):
    """The environment of a trainer with the tiny chat model."""
    token = tmp_path / "trainer-token"
    token.write_text("token")
    return {
        "TRAINYARD_STATUS_URL": status_server.url,
        "TRAINYARD_TOKEN_FILE": str(token),
        "TRAINYARD_BASE_MODEL": "trainyard/tiny-chat",
        "TRAINYARD_MODEL": str(MODEL),
        "TRAINYARD_ARTIFACTS": str(status_server.root),
        "TRAINYARD_MAX_SEQUENCE_LENGTH": "128",
        "TRAINYARD_SAVE_SECONDS": "0",
        "TRAINYARD_GRACE_SECONDS": str(MAX_WAIT_SECONDS),
    }


@pytest.fixture
def start_trainer(fork_server, trainer_env, tmp_path):
    """Starts a trainer with additional variables. `main` names its function. All trainers are killed at the end of the
    test."""
    trainers = []

    def start(main="trainyard_trainer.__main__:main", **env) -> Trainer:
        trainers.append(fork_server.start(trainer_env | env, tmp_path / f"trainer-{len(trainers)}.log", main))
        return trainers[-1]

    yield start
    for trainer in trainers:
        if not trainer.is_over():
            trainer.kill()
            trainer.wait()


def serve_forks(orders: Connection, theirs: Connection) -> None:
    """Forks a trainer for each order, until pytest ends."""
    theirs.close()  # otherwise the end of pytest would not be seen
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    while True:
        try:
            order = orders.recv()
        except EOFError:
            return
        answer = reap(order["reap"]) if "reap" in order else os.fork()
        if answer == 0 and "env" in order:
            become_trainer(order)
        orders.send(answer)


def reap(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def become_trainer(order: dict) -> NoReturn:
    """`main` ends the process, as in a trainer that was started by name."""
    output = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)  # pytest had its own
    os.environ.update(order["env"])
    resolve_name(order["main"])()
    os._exit(99)


def run_by_name() -> None:
    """`python -m trainyard_trainer`"""
    runpy.run_module("trainyard_trainer", run_name="__main__", alter_sys=True)

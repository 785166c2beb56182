"""Trainers in separate processes, forked from a process that has imported everything. A pytest plugin.

Importing torch and transformers takes many times as long as a short job. A trainer runs its real `main` and loads the
base model itself.
"""

import json
import os
import signal
import subprocess
import sys
import time
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


class ForkServer:
    def __init__(self) -> None:
        # With one thread, trainers do not wait for each other, and sums always have the same order.
        env = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        command = [sys.executable, "-m", "testing.trainer_processes"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=MODEL.parents[1], env=env, text=True, **pipes)

    def ask(self, order: dict) -> object:
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start(self, env: dict, log: Path, main: str) -> Trainer:
        log.touch()
        return Trainer(self, self.ask({"env": env, "log": str(log), "main": main}), log)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="session")
def fork_server():
    fork_server = ForkServer()
    yield fork_server
    fork_server.close()


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


def main() -> None:
    """Forks a trainer for each order."""
    import trainyard_trainer.compute.model.loading
    import trainyard_trainer.worker  # noqa: F401

    for line in sys.stdin:
        order = json.loads(line)
        answer = reap(order["reap"]) if "reap" in order else os.fork()
        if answer == 0 and "env" in order:
            become_trainer(order)
        print(json.dumps(answer), flush=True)


def reap(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def become_trainer(order: dict) -> NoReturn:
    """`main` ends the process, as in a trainer that was started by name."""
    output = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.update(order["env"])
    resolve_name(order["main"])()
    os._exit(99)


if __name__ == "__main__":
    main()

"""A real engine and a real trainer in one container, on a processor. Its start takes as long as an engine's."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.fake_status_server import write_rows
from testing.seeds import IS_NIGHTLY

TRAINER = Path(__file__).parents[1]
STEPS = 300
SHARE_SECONDS = 2
TURN = re.compile(r"The trainer had the device for (\d+\.\d+) s")


class Colocated:
    def __init__(self, folder, status_server):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (folder / "token").write_text("a token")
        env = {
            "TRAINYARD_HOST": "127.0.0.1",
            "TRAINYARD_PORT": str(self.port),
            "TRAINYARD_MODEL": str(TRAINER / "models" / "tiny-chat"),
            "TRAINYARD_MODEL_NAMES": "tiny",
            "TRAINYARD_ARTIFACTS": str(status_server.root),
            "TRAINYARD_TURNS_SECONDS": str(2 * SHARE_SECONDS),
            "TRAINYARD_MAX_MODEL_LEN": "256",
            "VLLM_API_KEY": "key",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "TRAINER_ENV_TRAINYARD_STATUS_URL": status_server.url,
            "TRAINER_ENV_TRAINYARD_TOKEN_FILE": str(folder / "token"),
            "TRAINER_ENV_TRAINYARD_BASE_MODEL": "tiny",
            "PYTHONUNBUFFERED": "1",
        }
        status_server.root.mkdir(exist_ok=True)
        self.log = folder / "log"
        command = [sys.executable, "-m", "trainyard_colocated", "--dtype", "float32", "--enforce-eager"]
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                command, cwd=TRAINER, env=os.environ | env, stdout=output, stderr=subprocess.STDOUT
            )

    def wait_until_ready(self):
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health"):
                return
            time.sleep(0.2)
        raise AssertionError(self.log.read_text()[-5000:])

    def chat(self, tokens=16) -> int:
        """Returns the number of tokens in the answer."""
        body = {"model": "tiny", "messages": [{"role": "user", "content": "Hello"}]}
        body |= {"max_tokens": tokens, "ignore_eos": True}
        headers = {"authorization": "Bearer key", "content-type": "application/json"}
        url = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=MAX_WAIT_SECONDS) as answer:
            return json.load(answer)["usage"]["completion_tokens"]

    def list_turns(self) -> list[float]:
        return [float(seconds) for seconds in TURN.findall(self.log.read_text())]

    def find_trainer(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return next(int(pid) for pid in children if b"trainyard_trainer" in Path(f"/proc/{pid}/cmdline").read_bytes())


@pytest.fixture
def colocated(tmp_path, status_server):
    colocated = Colocated(tmp_path, status_server)
    colocated.wait_until_ready()
    yield colocated
    colocated.process.kill()
    colocated.process.wait()


def measure_gaps(times: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(times)]


@pytest.mark.skipif(not IS_NIGHTLY, reason="nightly")
def test_both_take_turns_and_the_engine_survives_its_trainer(colocated, status_server):
    rows = write_rows([("Name a colour.", "Red. " * 60)] * STEPS)
    config = {"batch_size": 1, "learning_rate": 1e-4}
    stepped, answered = [], []

    def record(name: str, when: str, _: dict) -> bool:
        if (name, when) == ("gradient_step", "before"):
            stepped.append(time.monotonic())
        return False

    status_server.trap = record
    job = status_server.add("SFT", rows, config)
    status_server.wait_for(lambda: stepped)
    alone = len(colocated.list_turns())
    while job.state == "Active":
        assert colocated.chat() == 16
        answered.append(time.monotonic())
    assert job.state == "Trained", job.failures
    turns = colocated.list_turns()[alone:]
    assert len(turns) > 1
    # While one side had its turn, the other made no progress.
    assert sum(gap > 0.75 * SHARE_SECONDS for gap in measure_gaps(answered)) >= 2
    assert sum(gap > 0.75 * SHARE_SECONDS for gap in measure_gaps(stepped)) >= 1
    assert len(answered) > 2 * len(turns)

    stepped.clear()
    job = status_server.add("SFT", rows, config)
    status_server.wait_for(lambda: stepped)
    waiting = threading.Thread(target=lambda: answered.append(colocated.chat()))
    waiting.start()
    os.kill(colocated.find_trainer(), signal.SIGKILL)
    waiting.join(MAX_WAIT_SECONDS)
    assert answered[-1] == 16
    status_server.lose_trainers()
    status_server.wait_for(lambda: job.state == "Trained")

    colocated.process.terminate()
    assert colocated.process.wait(MAX_WAIT_SECONDS) == 0

"""Engines for tests, each in a process of its own. A pytest plugin."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from testing.stores import find_free_port

TRAINER = Path(__file__).parents[1]
MAX_SECONDS = 300  # on a machine that does other things


class Engine:
    def __init__(self, process: subprocess.Popen, port: int, log: Path) -> None:
        self.process, self.port, self.log = process, port, log

    def wait_until_ready(self) -> None:
        """Waits until the engine answers or ends."""
        deadline = time.monotonic() + MAX_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health") as answer:
                if answer.status == 200:
                    return
            time.sleep(0.1)
        raise AssertionError(f"the engine is not ready: {self.log.read_text()[-5000:]}")

    def send(self, method: str, path: str, body: object, tenant: str = "") -> bytes:
        headers = {"authorization": "Bearer key", "content-type": "application/json", "x-trainyard-tenant": tenant}
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def wait_for_end(self) -> str:
        """Returns its last line with a reason, which the operator finds among the last lines."""
        assert self.process.wait(MAX_SECONDS) == 1
        lines = self.log.read_text().splitlines()
        return next((line for line in reversed(lines) if line.startswith("trainyard_engine: ")), lines[-1])


@pytest.fixture
def start_engine(tmp_path) -> Iterator[Callable[..., Engine]]:
    engines: list[Engine] = []

    def start(model: str, *arguments: str, **env: str) -> Engine:
        port = find_free_port()
        settings = {
            "TRAINYARD_HOST": "127.0.0.1",
            "TRAINYARD_PORT": str(port),
            "TRAINYARD_METRICS_PORT": str(find_free_port()),
            "TRAINYARD_MODEL": model,
            "TRAINYARD_MODEL_NAMES": "tiny",
            "TRAINYARD_ARTIFACTS": str(tmp_path),
            "TRAINYARD_MAX_MODEL_LEN": "128",
            "VLLM_API_KEY": "key",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            # It computes in the engine's process, on one thread: several engines share the machine.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "OMP_NUM_THREADS": "1",
            "HF_HOME": str(tmp_path / "hf"),
        }
        log = tmp_path / f"engine-{len(engines)}.log"
        command = [sys.executable, "-m", "trainyard_engine", "--dtype", "float32", *arguments]
        with log.open("w") as output:
            process = subprocess.Popen(
                command, cwd=TRAINER, env=os.environ | settings | env, stdout=output, stderr=subprocess.STDOUT
            )
        engines.append(Engine(process, port, log))
        return engines[-1]

    yield start
    for engine in engines:
        engine.process.kill()
        engine.process.wait()

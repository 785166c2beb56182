"""The time from a job's claim to its first event, its first gradient step and its checkpoint, seen by the status
server.

The worker is the real one. The status server answers at once, in a thread of the same process. Two models alternate, so
that every job opens another model than the previous one, from the checkpoint of that model's last job.
"""

import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from bench.ours import LORA, MODEL
from testing.scripted_server import ScriptedServer
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.scheduling.policy import DEFAULT_CPU_TOKENS, Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings
from trainyard_trainer.reports.status_client import StatusClient
from trainyard_trainer.worker import Worker

WARM_UP, JOBS = 4, 20
NAME = "trainyard/tiny-chat"
QUESTION = {"role": "user", "content": "Name a colour."}
ANSWERS = ("Red.", "A deep green.", "Blue, as the sky is in the morning.", "Teal.")


@dataclass
class Times:
    """When a job was claimed, and how many milliseconds later its reports arrived."""

    claimed: float = field(default_factory=time.perf_counter)
    after_ms: dict[str, float] = field(default_factory=dict)

    def record(self, what: str) -> None:
        self.after_ms.setdefault(what, (time.perf_counter() - self.claimed) * 1000)


class FakeStatusServer:
    """Hands out one job after the other. Records the times of its reports, and why a job failed."""

    def __init__(self, root: Path, server: ScriptedServer) -> None:
        self.root = root
        self.times = Times()
        self.failure: str | None = None
        self.checkpoints: dict[int, dict] = {}
        self.model = 0
        server.respond = self.respond

    def offer(self, method: str, content: bytes, config: dict) -> None:
        digest = hashlib.sha256(content).hexdigest()
        (self.root / digest).write_bytes(content)
        self.model = 1 - self.model
        self.claim = {
            "id": str(uuid4()),
            "attempt": 1,
            "method": method,
            "input": {"uri": f"artifact:///{digest}", "digest": digest},
            "config": config,
            "checkpoint_id": str(uuid4()),
            "from_checkpoint": self.checkpoints.get(self.model),
            "entity": "e",
            "resume": None,
            "reference": None,
            "token_statistics": "off",
            "model_name": "e/p/m",
            "lease_seconds": 15,
        }

    def respond(self, path: str, body: dict) -> tuple[int, dict]:
        name = path.rsplit("/", 1)[-1]
        if name == "claims":
            self.times = Times()
            return 200, self.claim
        if name == "events":
            self.times.record(body["events"][0]["type"])
        if name == "checkpoint":
            self.times.record(name)
            self.checkpoints[self.model] = {"uri": body["uri"], "digest": body["digest"]}
        if name == "failure":
            self.failure = body["message"]
        return 200, {}


def measure_latency() -> dict[str, list[float]]:
    """Milliseconds job by job, by method and report."""
    server = ScriptedServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with TemporaryDirectory(prefix="trainyard-bench-") as root:
        return measure_jobs(server, Path(root))


def measure_jobs(server: ScriptedServer, root: Path) -> dict[str, list[float]]:
    base = load_base(NAME, Source(str(MODEL)))
    (root / "token").write_text("token")
    settings = Settings("", root / "token", NAME, "", StoreSettings(str(root)), 4096, LORA)
    client = StatusClient(f"http://127.0.0.1:{server.server_port}", root / "token")
    with Scheduler(Executor(base), Policy(DEFAULT_CPU_TOKENS)) as scheduler:
        worker, control = Worker(client, scheduler, settings), FakeStatusServer(root, server)
        found: dict[str, list[float]] = {}
        for method, content in (("SFT", write_rows()), ("RL", write_groups(base))):
            control.checkpoints.clear()
            for index in range(WARM_UP + JOBS):
                control.offer(method, content, {"learning_rate": 1e-4})
                after_ms = run_job(worker, control)
                for what, value in after_ms.items() if index >= WARM_UP else ():
                    found.setdefault(f"{method.lower()}_claim_to_{what}_ms", []).append(value)
    return found


def run_job(worker: Worker, control: FakeStatusServer) -> dict[str, float]:
    worker.start(worker.wait_for_claim())
    with worker.changed:
        worker.changed.wait_for(lambda: not worker.running)
    if control.failure:
        raise RuntimeError(f"A job that is measured failed: {control.failure}")
    return control.times.after_ms


def write_rows() -> bytes:
    """Two steps of the default size."""
    rows = [{"messages": [QUESTION, {"role": "assistant", "content": answer}]} for answer in ANSWERS]
    return "\n".join(map(json.dumps, rows)).encode()


def write_groups(base: Base) -> bytes:
    """Two groups of four answers."""
    trajectories = [
        {"messages_and_choices": [QUESTION, make_choice(base, answer)], "reward": index % 2}
        for index, answer in enumerate(ANSWERS)
    ]
    return json.dumps({"trajectory_groups": [{"trajectories": trajectories}] * 2}).encode()


def make_choice(base: Base, text: str) -> dict:
    ids = [*base.tokenizer.encode(text, add_special_tokens=False), base.tokenizer.eos_token_id]
    entries = [{"token": f"token_id:{number}", "logprob": -0.5, "top_logprobs": []} for number in ids]
    message = {"role": "assistant", "content": text}
    return {"finish_reason": "stop", "index": 0, "message": message, "logprobs": {"content": entries}}

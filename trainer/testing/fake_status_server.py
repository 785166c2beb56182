"""A status server that keeps the reports of trainers and hands jobs out again, as the real one does. A pytest plugin.

`violations` has what a trainer must never do.
"""

import hashlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from testing.deadlines import MAX_WAIT_SECONDS

# Numbers of a step that describe the machine, not the training.
UNSTEADY = ("tokens_per_second", "memory_bytes")


@dataclass
class JobRow:
    """A job as in the database. `claim` has the facts that a trainer gets, without the attempt."""

    claim: dict
    attempt: int = 0
    state: str = "Queued"
    holder: str | None = None
    checkpoint_id: str = ""
    events: dict[int, dict] = field(default_factory=dict)
    progress: list[dict] = field(default_factory=list)
    checkpoints: list[dict] = field(default_factory=list)
    failures: list[dict] = field(default_factory=list)
    statistics: list[dict] = field(default_factory=list)
    releases: int = 0
    drops: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    @property
    def resume(self) -> dict | None:
        return max(self.progress, key=lambda saved: (saved["attempt"], saved["step"]), default=None)

    def give(self, holder: str) -> dict:
        self.attempt += 1
        self.state, self.holder, self.checkpoint_id = "Active", holder, str(uuid4())
        return self.present()

    def present(self) -> dict:
        reported = {"attempt": self.attempt, "checkpoint_id": self.checkpoint_id, "resume": self.resume}
        return self.claim | reported

    def add_event(self, event: dict) -> None:
        """Adds an event. A repeated event changes nothing, but must be equal."""
        seq, steady = event["seq"], {name: n for name, n in event["data"].items() if name not in UNSTEADY}
        reported = {"type": event["type"], "data": steady}
        if seq not in self.events and seq != len(self.events):
            self.violations.append(f"event {seq} comes after {len(self.events)} others")
        if self.events.setdefault(seq, reported) != reported:
            self.violations.append(f"event {seq} is told twice, and differs: {self.events[seq]} and {reported}")


# What a trainer says about its base model, not about a job.
OF_BASE_MODELS = ("download-progress", "untrained-layers", "untrained-adapter")

# Called with a report's name, "before" or "after" it is kept, and the report. True drops the answer, like a broken
# connection.
Trap = Callable[[str, str, dict], bool]


class FakeStatusServer:
    """`trap` sees every request about jobs before it is kept, and before it is answered."""

    def __init__(self, server, root):
        self.root = root
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.jobs: dict[str, JobRow] = {}
        self.of_base_models: dict[str, list[dict]] = {name: [] for name in OF_BASE_MODELS}
        self.trap: Trap = lambda *_: False
        self.asking = server.asking
        self.changed = threading.Condition()
        server.respond = self.respond

    def add(self, method: str, content: bytes, config: dict, **claimed) -> JobRow:
        """`claimed` has additional fields of the claim."""
        digest = hashlib.sha256(content).hexdigest()
        (self.root / "payloads").mkdir(parents=True, exist_ok=True)
        (self.root / "payloads" / digest).write_bytes(content)
        claim = {
            "id": str(uuid4()),
            "entity": "e",
            "method": method,
            "input": {"uri": f"artifact:///payloads/{digest}", "digest": digest},
            "config": config,
            "from_checkpoint": None,
            "resume": None,
            "reference": None,
            "token_statistics": "off",
            "model_name": "e/p/m",
            "lease_seconds": 15,
        }
        job = JobRow(claim | claimed)
        with self.changed:
            self.jobs[job.claim["id"]] = job
            self.changed.notify_all()
        return job

    def respond(self, path: str, body: dict) -> tuple[int, dict]:
        name = path.rsplit("/", 1)[1]
        name = body["events"][0]["type"] if name == "events" else name
        if name in OF_BASE_MODELS:
            with self.changed:
                self.of_base_models[name].append(body)
                self.changed.notify_all()
            return 200, {}
        if self.trap(name, "before", body):
            return 500, {}
        answer = self.claim(body) if name == "claims" else self.record(path, name, body)
        return (500, {}) if answer[0] == 200 and self.trap(name, "after", body) else answer

    def claim(self, body: dict) -> tuple[int, dict]:
        """Waits until there is a job, or the client has disconnected."""
        deadline = time.monotonic() + body["wait_seconds"]
        with self.changed:
            while time.monotonic() < deadline and not is_closed(self.asking.connection):
                if found := self.find(body["process_id"], body["holding"], body.get("job_id")):
                    return 200, found
                self.changed.wait(0.02)
        return 204, {}

    def find(self, process: str, holding: list[str], only: str | None) -> dict | None:
        """Repeats a lost answer, or returns the next job."""
        for job in self.jobs.values():
            if job.state == "Active" and job.holder == process and not job.events and job.claim["id"] not in holding:
                return job.present()
        queued = next(
            (job for job in self.jobs.values() if job.state == "Queued" and only in (None, job.claim["id"])), None
        )
        return queued and queued.give(process)

    def record(self, path: str, name: str, body: dict) -> tuple[int, dict]:
        _, _, _, job_id, _, attempt, _ = path.split("/")
        with self.changed:
            job = self.jobs[job_id]
            if name == "dropped":
                job.drops.append(int(attempt))
                return 200, {}
            mine = int(attempt) == job.attempt
            is_late = name in ("token-statistics", "heartbeat", "checkpoint") and job.state == "Trained"
            if not mine or not (job.state == "Active" or name == "log" or is_late):
                job.refused.append(name)
                return 409, {"detail": "fenced"}
            self.keep(job, name, body)
            self.changed.notify_all()
        return 200, {}

    def keep(self, job: JobRow, name: str, body: dict) -> None:
        if "events" in body:
            for event in body["events"]:
                job.add_event(event)
        elif name == "progress":
            job.progress.append(body | {"attempt": job.attempt})
        elif name == "log":
            job.lines += [line["text"] for line in body["lines"]]
        elif name in ("failure", "token-statistics"):
            (job.failures if name == "failure" else job.statistics).append(body)
        elif name == "checkpoint" and body not in job.checkpoints:
            job.checkpoints.append(body)
        job.releases += name == "release"
        job.state = {"checkpoint": "Trained", "failure": "Failed", "release": "Queued"}.get(name, job.state)

    def lose_trainers(self) -> None:
        """Ends all leases: their jobs go back into the queue."""
        with self.changed:
            for job in self.jobs.values():
                if job.state == "Active":
                    job.state, job.holder = "Queued", None

    def wait_for(self, condition: Callable[[], object], seconds: float = MAX_WAIT_SECONDS) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, seconds), [vars(job) for job in self.jobs.values()]


@pytest.fixture
def status_server(server, tmp_path):
    return FakeStatusServer(server, tmp_path / "artifacts")


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed the connection. It sends nothing else before its answer."""
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""


def write_rows(dialogues) -> bytes:
    """Writes the data of an SFT job."""
    return "\n".join(
        json.dumps({"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]})
        for asked, answer in dialogues
    ).encode()

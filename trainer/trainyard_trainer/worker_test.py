import hashlib
import json
import threading
import time
from pathlib import Path

import pytest
import torch

from testing.deadlines import MAX_WAIT_SECONDS
from testing.jobs import LORA
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer import worker
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import ShuttingDown
from trainyard_trainer.readiness import Readiness
from trainyard_trainer.reports import claims
from trainyard_trainer.reports.status_client import CLAIM_WAIT_SECONDS, StatusUnavailable
from trainyard_trainer.worker import Worker, count_gpus

ROW = {"messages": [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Teal. " * 30}]}


class FakeStatusServer:
    """Hands out one job, and takes it away after `cancel` was called."""

    def __init__(self, server, root):
        self.root = root
        self.server = server
        self.cancelled_at = None
        self.heard_at = {}
        self.refused = None
        server.respond = self.respond

    def offer(self, method, content, config):
        digest = hashlib.sha256(content).hexdigest()
        (self.root / digest).write_bytes(content)
        self.claim = {
            "id": "7",
            "attempt": 2,
            "method": method,
            "input": {"uri": f"artifact:///{digest}", "digest": digest},
            "config": config,
            "checkpoint_id": "00000000-0000-4000-8000-000000000001",
            "from_checkpoint": None,
            "entity": "e",
            "resume": None,
            "reference": None,
            "token_statistics": "off",
            "model_name": "e/p/m",
            "lease_seconds": 15,
        }

    def respond(self, path, body):
        name = body["events"][0]["type"] if path.endswith("/events") else path.rsplit("/", 1)[-1]
        self.heard_at.setdefault(name, time.monotonic())
        if path == "/v1/claims":
            return 200, self.claim
        if name == self.refused:
            return 422, {"detail": "no"}
        gone = self.cancelled_at is not None and not path.endswith(("/log", "/dropped"))
        return (409, {"detail": "cancelled"}) if gone else (200, {})

    def cancel(self):
        self.cancelled_at = time.monotonic()

    def cancel_after(self, report, seconds):
        """Cancels some seconds after the report of this name (or the claim) was sent."""

        def wait():
            while not any(path.endswith(report) for path, _, _ in list(self.server.requests)):
                time.sleep(0.01)
            time.sleep(seconds)
            self.cancel()

        threading.Thread(target=wait, daemon=True).start()


@pytest.fixture
def status_server(server, tmp_path):
    root = tmp_path / "artifacts"
    root.mkdir()
    return FakeStatusServer(server, root)


@pytest.fixture
def serve(client, scheduler, status_server):
    """Claims one job and runs it to its end."""

    def serve():
        name = scheduler.executor.base.name
        settings = Settings("", Path(), name, "", StoreSettings(str(status_server.root)), 4096, LORA)
        own = Worker(client, scheduler, settings, process_id="process")
        own.start(own.wait_for_claim())
        with own.changed:
            assert own.changed.wait_for(lambda: not own.running, timeout=MAX_WAIT_SECONDS)

    return serve


@pytest.mark.parametrize(
    ("device", "num_processes", "gpus"), [("cuda:0", 1, 1), ("cuda:0", 2, 2), ("cpu", 1, 0), ("cpu", 2, 0)]
)
def test_the_reported_gpus_are_those_in_use(monkeypatch, device, num_processes, gpus):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    settings = Settings("", Path(), "", "", StoreSettings("/"), 4096, LORA, num_processes=num_processes)
    assert count_gpus(torch.device(device), settings) == gpus


def test_a_trainer_is_ready_while_its_claims_are_answered(client, scheduler, status_server, server, tmp_path):
    file = tmp_path / "ready"
    file.touch()
    settings = Settings("", Path(), scheduler.executor.base.name, "", StoreSettings(str(tmp_path)), 4096, LORA)
    own = Worker(client, scheduler, settings, readiness=Readiness(file))
    assert not file.exists()  # an earlier process left it
    server.respond = lambda path, body: (503, {"detail": "away"})
    with pytest.raises(StatusUnavailable):
        own.ask_for_claim()
    assert not file.exists()
    server.respond = lambda path, body: (204, None)
    assert own.ask_for_claim() is None
    assert file.exists()
    own.ask_for_claim()
    server.respond = lambda path, body: (401, {"detail": "unknown key"})
    with pytest.raises(StatusUnavailable):
        own.ask_for_claim()
    assert not file.exists()
    waits = [body["wait_seconds"] for body in server.bodies_of("claims")]
    assert waits == [0, 0, CLAIM_WAIT_SECONDS, CLAIM_WAIT_SECONDS]


def write_rows(count):
    return "\n".join([json.dumps(ROW)] * count).encode()


def test_a_job_is_claimed_trained_and_logged(server, status_server, serve):
    status_server.offer("SFT", write_rows(2), {})
    serve()
    assert server.bodies_of("claims") == [
        {"base_model": "trainyard/tiny-chat", "process_id": "process", "gpus": 0, "holding": [], "wait_seconds": 20}
    ]
    assert [body["events"][0]["type"] for body in server.bodies_of("events")] == ["training_started", "gradient_step"]
    assert len(server.bodies_of("checkpoint")) == 1
    texts = [line["text"] for body in server.bodies_of("log") for line in body["lines"]]
    assert [text.split(" job=")[0] for text in texts] == ["job claimed", "job trained"]


def test_a_failure_is_reported_and_logged_with_its_traceback(server, status_server, serve):
    status_server.offer("SFT", b"{", {})
    serve()
    (report,) = server.bodies_of("failure")
    assert report["category"] == "User"
    assert report["message"].startswith("Line 1 is not JSON")
    last = server.bodies_of("log")[-1]["lines"][-1]
    assert last["level"] == "error"
    assert "InvalidInput: Line 1 is not JSON" in last["text"]


def test_a_failure_with_any_message_is_reported(server, status_server, serve):
    status_server.offer("\ud800" + "x" * 2_000_000, b"", {})
    serve()
    (report,) = server.bodies_of("failure")
    assert report["message"].startswith("This trainer does not know the method ?xx")
    assert (report["reason"], len(report["message"])) == ("UnknownMethod", 2000)


@pytest.mark.parametrize("report", ["failure", "release"])
def test_an_end_that_cannot_be_reported_is_logged(server, status_server, serve, monkeypatch, report):
    if report == "release":
        monkeypatch.setattr(worker, "run_job", leave)
    status_server.offer("SFT", b"{", {})
    status_server.refused = report
    serve()
    last = server.bodies_of("log")[-1]["lines"][-1]
    assert (last["level"], len(server.bodies_of(report))) == ("error", 1)
    assert last["text"].startswith("it cannot be reported how the job ended")
    assert "the status server answered 422" in last["text"]


def leave(_):
    raise ShuttingDown("the trainer ends")


@pytest.mark.parametrize(
    ("rows", "config", "after"),
    [
        pytest.param(20_000, {}, ("/v1/claims", 1.0), id="while its data is tokenized"),
        pytest.param(600, {"batch_size": 600}, ("/events", 0.3), id="within one long step"),
        pytest.param(600, {"batch_size": 1}, ("/events", 0.3), id="between steps"),
    ],
)
def test_a_cancelled_job_is_dropped_within_a_moment(server, status_server, serve, rows, config, after):
    status_server.offer("SFT", write_rows(rows), config)
    status_server.cancel_after(*after)
    serve()
    assert status_server.cancelled_at is not None
    assert time.monotonic() - status_server.cancelled_at < 1.9
    assert server.bodies_of("checkpoint") == server.bodies_of("failure") == []
    assert not (status_server.root / "checkpoints").exists()
    assert "job dropped" in server.bodies_of("log")[-1]["lines"][-1]["text"]
    assert server.bodies_of("dropped") == [{}]


def test_a_warm_trainer_soon_reports_a_jobs_first_step(status_server, serve):
    status_server.offer("SFT", write_rows(2), {})
    serve()
    started, stepped = [], []
    # Tests run on busy machines, so the fastest of three counts.
    for _ in range(3):
        status_server.heard_at.clear()
        serve()
        heard_at = status_server.heard_at
        started.append(heard_at["training_started"] - heard_at["claims"])
        stepped.append(heard_at["gradient_step"] - heard_at["claims"])
    # Ten times the intended duration, as measured by `npm run bench -- trainer`.
    assert min(started) < 0.25
    assert min(stepped) < 1.0


def test_heartbeats_are_sent_every_second():
    assert claims.HEARTBEAT_SECONDS <= 1

"""A trainer that has lost the lease writes nothing more: the status server says so, or the lease has expired."""

import json
import threading
import time

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.fake_status_server import write_rows
from testing.interruption import check_store

ROWS = [("Name a colour.", f"{word}. " * 20) for word in ("Red", "Blue", "Teal", "Pink")] * 10
REPORTS = ("training_started", "gradient_step", "progress", "checkpoint", "failure", "release", "token-statistics")


@pytest.fixture
def offer(status_server):
    def offer(**claimed):
        return status_server.add("SFT", write_rows(ROWS), {"batch_size": 4}, token_statistics="all", **claimed)

    return offer


@pytest.fixture
def take_away(status_server, start_trainer):
    """Gives the job to another trainer when a report arrives, and waits until its trainer has noticed. Returns the
    reports that the trainer sent after that."""

    def run(job, name, number):
        seen, later = [], []

        def trap(reported, when, body):
            if when == "before" and reported in REPORTS:
                if job.attempt > 1:
                    later.append(reported)
                seen.append(reported)
                if seen.count(name) == number and job.attempt == 1:
                    with status_server.changed:
                        job.attempt, job.state = 2, "Active"
            return False

        status_server.trap = trap
        trainer = start_trainer()
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while "job dropped" not in trainer.log.read_text():
            assert time.monotonic() < deadline, trainer.log.read_text()
            time.sleep(0.01)
        time.sleep(0.3)
        return later

    return run


@pytest.mark.parametrize(
    ("report", "number"),
    [
        pytest.param("training_started", 1, id="before the first step"),
        pytest.param("gradient_step", 1, id="after the first step"),
        pytest.param("progress", 1, id="when its progress is stored"),
        pytest.param("gradient_step", 10, id="after the last step"),
        pytest.param("checkpoint", 1, id="when its checkpoint is stored"),
    ],
)
def test_a_fenced_attempt_reports_and_stores_nothing(status_server, offer, take_away, report, number):
    job = offer()
    assert take_away(job, report, number) == []
    assert (job.checkpoints, job.failures, job.statistics, job.releases, job.drops) == ([], [], [], 0, [1])
    assert job.refused.count(report) == 1
    assert not set(job.refused) - {report, "heartbeat", "log"}
    assert (status_server.root / "checkpoints" / job.checkpoint_id).exists() == (report == "checkpoint")
    assert not (status_server.root / "token-statistics").exists()
    check_store(status_server.root)


def test_training_goes_on_while_the_status_server_is_away_and_repeats_no_step(status_server, start_trainer):
    rows = write_rows(ROWS)
    job = status_server.add("SFT", rows, {"batch_size": 1})
    away = threading.Event()
    sent = []

    def trap(reported, when, body):
        if (reported, when) == ("gradient_step", "before"):
            sent.append(body["events"][0]["seq"])
            if len(job.events) == 3 and not away.is_set():
                away.set()
        return away.is_set() and reported != "claims"

    status_server.trap = trap
    trainer = start_trainer(TRAINYARD_SAVE_SECONDS="0")
    assert away.wait(MAX_WAIT_SECONDS)
    # More steps than the device would finish for a reader that waits.
    wait_until(lambda: find_saved_steps(status_server.root) >= 30)
    assert len(job.events) == 3
    status_server.trap = lambda *_: False
    status_server.wait_for(lambda: job.checkpoints)
    assert (job.attempt, job.violations, len(job.events)) == (1, [], len(ROWS) + 1)
    log = trainer.log.read_text()
    assert "job dropped" not in log and log.count("job claimed") == 1


def find_saved_steps(root):
    files = root.glob("progress/*/*/progress.json")
    return max((json.loads(path.read_text())["steps_taken"] for path in files), default=0)


def wait_until(condition):
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)

"""A trainer that has lost the lease writes nothing more: the status server says so, or the lease has expired."""

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
    assert (job.checkpoints, job.failures, job.statistics, job.releases) == ([], [], [], 0)
    assert job.refused.count(report) == 1
    assert not set(job.refused) - {report, "heartbeat", "log"}
    kept = len(list(status_server.root.glob("checkpoints/*")))
    assert kept == (report == "checkpoint")
    assert not (status_server.root / "token-statistics").exists()
    check_store(status_server.root)


def test_a_lease_that_expired_while_the_status_server_was_unavailable_ends_the_attempt(
    status_server, start_trainer, offer
):
    job = offer(lease_seconds=2)
    away_since = []

    def trap(reported, when, _):
        if (reported, when) == ("gradient_step", "after"):
            away_since.append(time.monotonic())
        return bool(away_since) and reported != "claims"

    status_server.trap = trap
    trainer = start_trainer()
    status_server.wait_for(lambda: job.events)
    deadline = time.monotonic() + 30
    while "job dropped" not in trainer.log.read_text():
        assert time.monotonic() < deadline, trainer.log.read_text()
        time.sleep(0.01)
    assert "the lease ran out" in trainer.log.read_text()
    assert time.monotonic() - away_since[0] < 8
    assert len(job.events) == 2
    assert job.progress == job.checkpoints == job.failures == []
    assert not (status_server.root / "checkpoints").exists()

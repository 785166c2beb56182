import time

import pytest

from trainyard_trainer import log
from trainyard_trainer.reports import job_log
from trainyard_trainer.reports.claims import Artifact, Claim
from trainyard_trainer.reports.job_log import JobLog

CLAIM = Claim("7", 2, "RL", Artifact("artifact:///x", "d"), {}, "c", None)
PATH = "/v1/jobs/7/attempts/2/log"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(job_log, "SEND_SECONDS", 0.05)


def list_lines(server):
    assert {path for path, _, _ in server.requests} <= {PATH}
    return [line for body in server.bodies_of("log") for line in body["lines"]]


def wait_until(condition):
    ends_at = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends_at, "it did not come true in 30 s"
        time.sleep(0.01)


def test_lines_are_sent_with_their_fields_and_tracebacks(server, client):
    log.info("before")
    with JobLog(client, CLAIM):
        log.info("job claimed", job="7", attempt=2)
        log.warn("dropped rows that are too long", dropped=3)
        try:
            raise ValueError("broken")
        except ValueError as cause:
            log.error("job failed", cause, reason="TrainerError")
    log.info("after")
    lines = list_lines(server)
    assert [(line["seq"], line["level"]) for line in lines] == [(0, "info"), (1, "warn"), (2, "error")]
    assert [line["text"].split("\n")[0] for line in lines] == [
        "job claimed job=7 attempt=2",
        "dropped rows that are too long dropped=3",
        "job failed reason=TrainerError",
    ]
    assert lines[2]["text"].endswith("ValueError: broken")
    assert all(line["time"].endswith("+00:00") for line in lines)


def test_a_line_that_is_not_unicode_is_sent_with_the_others(server, client):
    with JobLog(client, CLAIM):
        log.info("before")
        log.info("a file", name="\ud800.json")
        log.info("after")
    assert [line["text"] for line in list_lines(server)] == ["before", "a file name=?.json", "after"]


def test_lines_are_sent_while_the_job_runs_in_few_requests(server, client, monkeypatch):
    monkeypatch.setattr(job_log, "SEND_SECONDS", 0.2)
    with JobLog(client, CLAIM):
        for number in range(50):
            log.info("step", number=number)
        wait_until(lambda: len(list_lines(server)) == 50)
        assert len(server.requests) == 1
        time.sleep(0.3)
    assert len(server.requests) == 1


def test_no_line_is_lost_while_the_server_is_unavailable_for_a_moment(server, client):
    server.answers = [(503, {}), (503, {}), (200, {})]
    with JobLog(client, CLAIM):
        log.info("one")
        wait_until(lambda: len(server.requests) == 3)
        log.info("two")
    seqs = [[line["seq"] for line in body["lines"]] for body in server.bodies_of("log")]
    assert seqs == [[0], [0], [0], [1]]


def test_a_log_that_no_server_accepts_ends_in_time(server, client):
    server.respond = lambda _path, _body: (time.sleep(3), (200, {}))[1]
    with JobLog(client, CLAIM):
        log.info("one")
        started = time.monotonic()
    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize("status", [404, 409, 422])
def test_a_rejected_log_is_not_sent_again(server, client, status):
    server.answers = [(status, {})]
    with JobLog(client, CLAIM):
        log.info("one")
        time.sleep(0.2)
        log.info("two")
    assert len(server.requests) == 1


def test_a_long_log_is_truncated_and_sent_in_parts(server, client):
    with JobLog(client, CLAIM):
        for number in range(3000):
            log.info("x" * (9000 if number < 20 else 1))
    lines = list_lines(server)
    assert [line["seq"] for line in lines] == list(range(2000))
    assert len(lines[0]["text"]) == 8000
    assert max(sum(len(line["text"]) for line in body["lines"]) for body in server.bodies_of("log")) <= 100_000

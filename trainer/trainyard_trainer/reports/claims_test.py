import threading

import pytest

from trainyard_trainer.failures import Fenced, JobFailure
from trainyard_trainer.reports import claims, spool
from trainyard_trainer.reports.claims import Artifact, Lease, parse_claim
from trainyard_trainer.reports.job_warnings import JobWarning
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable

CLAIM = {
    "id": "7",
    "attempt": 2,
    "method": "RL",
    "input": {"uri": "artifact:///payloads/e/x.json", "digest": "d"},
    "config": {"learning_rate": 0.1},
    "checkpoint_id": "c",
    "from_checkpoint": None,
    "entity": "e",
    "resume": None,
    "reference": None,
    "token_statistics": "off",
    "model_name": "e/p/m",
}


@pytest.fixture
def lease(client):
    with Lease(client, parse_claim(CLAIM)) as lease:
        yield lease


def test_a_claim_is_accepted(server, client):
    server.answers = [(204, None), (200, CLAIM)]
    assert client.claim("base", "process", 1) is None
    assert client.claim("base", "process", 1) == CLAIM
    sent = {"base_model": "base", "process_id": "process", "gpus": 1, "holding": [], "wait_seconds": 20}
    assert server.requests[0] == ("/v1/claims", "Bearer first", sent)


def test_the_token_is_read_again_for_every_call(server, client, lease):
    lease.post_event(0, "training_started", {"num_sequences": 0})
    lease.flush()
    client.token_file.write_text("second")
    lease.post_checkpoint("artifact:///x", "d", {"loss": 1.0})
    assert server.requests == [
        (
            "/v1/jobs/7/attempts/2/events",
            "Bearer first",
            {"events": [{"seq": 0, "type": "training_started", "data": {"num_sequences": 0}}]},
        ),
        (
            "/v1/jobs/7/attempts/2/checkpoint",
            "Bearer second",
            {"uri": "artifact:///x", "digest": "d", "metrics": {"loss": 1.0}},
        ),
    ]


def test_warnings_are_sent_with_reports_and_truncated_to_the_servers_limits(server, lease):
    warning = JobWarning("too_long", "x" * 600 + "\ud800")
    lease.report_start(1, {}, [warning])
    lease.post_checkpoint("artifact:///x", "d", {}, [warning])
    warnings = [{"code": "too_long", "message": "x" * 500}]
    start = {"seq": 0, "type": "training_started", "data": {"num_sequences": 1}, "warnings": warnings}
    assert server.bodies_of("events") == [{"events": [start]}]
    assert server.bodies_of("checkpoint") == [
        {"uri": "artifact:///x", "digest": "d", "metrics": {}, "warnings": warnings}
    ]


def test_a_report_is_repeated_until_the_server_is_back(server, lease):
    server.answers = [(503, {}), (401, {}), (200, {})]
    lease.post_event(1, "gradient_step", {"loss": 0.5})
    lease.flush()
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[2]


def test_reports_wait_in_their_order_while_the_server_is_away(server, lease):
    server.answers = [(503, {})]
    for seq in range(1, 100):
        lease.post_event(seq, "gradient_step", {})
    lease.post_progress(Artifact("artifact:///x", "d"), 99)
    lease.check()
    server.answers = [(200, {})]
    lease.post_checkpoint("artifact:///x", "d", {})
    sent = [body["events"][0]["seq"] for body in server.bodies_of("events")]
    assert list(dict.fromkeys(sent)) == list(range(1, 100))
    reports = [path.rsplit("/", 1)[1] for path, _, _ in server.requests]
    assert [report for report in reports if report != "heartbeat"][-2:] == ["progress", "checkpoint"]


def test_a_full_spool_holds_the_job(server, lease, monkeypatch):
    monkeypatch.setattr(spool, "MAX_REPORTS", 2)
    server.answers = [(503, {})]
    putting = threading.Thread(target=lambda: [lease.post_event(seq, "gradient_step", {}) for seq in range(3)])
    putting.start()
    putting.join(0.5)
    assert putting.is_alive()
    server.answers = [(200, {})]
    putting.join(10)
    assert not putting.is_alive()


def test_a_conflict_ends_all_reports_at_once(server, lease):
    server.answers = [(409, {"detail": "cancelled"})]
    lease.post_event(1, "gradient_step", {})
    with pytest.raises(Fenced, match="cancelled"):
        lease.flush()
    server.answers = [(200, {})]
    for report in (lease.check, lease.flush, lambda: lease.post_event(2, "gradient_step", {})):
        with pytest.raises(Fenced):
            report()
    with pytest.raises(Fenced):
        lease.post_checkpoint("artifact:///x", "d", {})
    assert len(server.requests) == 1


def test_heartbeats_detect_a_conflict(server, client, monkeypatch):
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    server.answers = [(503, {}), (200, {}), (409, {"detail": "given to another"})]
    with Lease(client, parse_claim(CLAIM)) as lease:
        lease.threads[0].join(10)
        with pytest.raises(Fenced, match="given to another"):
            lease.check()
    assert {path for path, _, _ in server.requests} == {"/v1/jobs/7/attempts/2/heartbeat"}


def test_a_rejected_report_is_not_repeated_and_fails_the_job(server, lease):
    server.answers = [(422, {"detail": "no"})]
    lease.post_event(1, "gradient_step", {})
    with pytest.raises(JobFailure) as caught:
        lease.flush()
    assert (caught.value.reason, len(server.requests)) == ("ReportRefused", 1)
    server.answers = [(200, {})]
    lease.post_failure({"reason": caught.value.reason})
    assert server.bodies_of("failure") == [{"reason": "ReportRefused"}]


def test_a_missing_server_or_token_counts_as_unavailable(server, client):
    client.token_file.unlink()
    with pytest.raises(StatusUnavailable):
        client.claim("base", "process", 1)
    with pytest.raises(StatusUnavailable):
        StatusClient("http://127.0.0.1:9", client.token_file).claim("base", "process", 1)

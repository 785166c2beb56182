import time

import pytest

from trainyard_trainer.failures import Fenced, JobFailure
from trainyard_trainer.reports import claims
from trainyard_trainer.reports.claims import Lease, parse_claim
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
    "lease_seconds": 1.0,
}


@pytest.fixture
def lease(client):
    return Lease(client, parse_claim(CLAIM))


def test_a_claim_is_accepted(server, client):
    server.answers = [(204, None), (200, CLAIM)]
    assert client.claim("base", "process", 1) is None
    assert client.claim("base", "process", 1) == CLAIM
    sent = {"base_model": "base", "process_id": "process", "gpus": 1, "holding": [], "wait_seconds": 20}
    assert server.requests[0] == ("/v1/claims", "Bearer first", sent)


def test_the_token_is_read_again_for_every_call(server, client, lease):
    lease.post_event(0, "training_started", {"num_sequences": 0})
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
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[2]


def test_a_conflict_ends_all_reports_at_once(server, lease):
    server.answers = [(409, {"detail": "cancelled"})]
    with pytest.raises(Fenced, match="cancelled"):
        lease.post_event(1, "gradient_step", {})
    server.answers = [(200, {})]
    with pytest.raises(Fenced):
        lease.check()
    with pytest.raises(Fenced):
        lease.post_checkpoint("artifact:///x", "d", {})
    assert len(server.requests) == 1


def test_a_lease_that_has_certainly_expired_ends_the_job(server, lease):
    server.answers = [(503, {})]
    started = time.monotonic()
    with pytest.raises(Fenced, match="ran out"):
        lease.post_event(1, "gradient_step", {})
    assert 0.9 < time.monotonic() - started < 4


def test_heartbeats_keep_the_lease_and_detect_a_conflict(server, lease, monkeypatch):
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    with lease:
        time.sleep(1.2)
        lease.check()  # longer than the lease of one second
        server.answers = [(409, {"detail": "given to another"})]
        time.sleep(0.3)
        with pytest.raises(Fenced, match="given to another"):
            lease.check()
    assert {path for path, _, _ in server.requests} == {"/v1/jobs/7/attempts/2/heartbeat"}


def test_a_rejected_report_is_not_repeated(server, lease):
    server.answers = [(422, {"detail": "no"})]
    with pytest.raises(JobFailure) as caught:
        lease.post_event(1, "gradient_step", {})
    assert (caught.value.reason, len(server.requests)) == ("ReportRefused", 1)


def test_a_missing_server_or_token_counts_as_unavailable(server, client):
    client.token_file.unlink()
    with pytest.raises(StatusUnavailable):
        client.claim("base", "process", 1)
    with pytest.raises(StatusUnavailable):
        StatusClient("http://127.0.0.1:9", client.token_file).claim("base", "process", 1)

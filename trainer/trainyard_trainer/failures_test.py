"""Every failure of a job is reported with a sentence that says what to do, and affects no other job."""

import errno

import pytest
import torch

from testing.fake_status_server import write_rows
from testing.worker_jobs import ROWS, locate, offer_sft, read_weights, shorten
from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_trainer.compute.model import forward
from trainyard_trainer.failures import explain_failure


@pytest.mark.parametrize(
    ("method", "content", "sentence"),
    [
        pytest.param("RL", b"{", "The payload is not JSON", id="a payload that ends early"),
        pytest.param("RL", b"\xff\xfe{}", "The payload is not", id="a payload that is no UTF-8"),
        pytest.param("RL", b"[]", "payload must be an object", id="a payload that is a list"),
        pytest.param("SFT", b"{}\n", "Line 1 has no messages", id="a line without messages"),
        pytest.param("SFT", b'{"messages": \xff}', "Line 1 is not UTF-8", id="a line that is no UTF-8"),
        pytest.param("SFT", b"", "training data is empty", id="no line"),
    ],
)
def test_unreadable_input_is_an_error_of_the_user(status_server, run_jobs, method, content, sentence):
    status_server.add(method, content, {})
    (failure,) = run_jobs()
    assert (failure["category"], failure["retryable"]) == ("User", False)
    assert sentence in failure["message"]


def test_input_that_differs_from_what_was_sent_is_rejected(status_server, run_jobs):
    job = offer_sft(status_server)
    locate(status_server, job.claim["input"]).write_bytes(write_rows(ROWS[:1]))
    (failure,) = run_jobs()
    assert shorten(failure) == ("User", "InputUnusable", False)
    assert "has the digest" in failure["message"]


def test_a_loss_that_is_not_a_number_is_reported(status_server, run_jobs, monkeypatch):
    monkeypatch.setattr(
        forward, "score_hidden", lambda head, hidden_N_D, targets_N, vocabulary: (hidden_N_D.sum(1) * torch.nan,) * 2
    )
    offer_sft(status_server)
    (failure,) = run_jobs()
    assert shorten(failure) == ("User", "Diverged", False)
    assert "lower the learning rate" in failure["message"]


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), ("Capacity", "CudaOutOfMemory", True)),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), ("Capacity", "StorageFull", True)),
        (StoreUnavailable("The artifact store does not answer"), ("Internal", "ArtifactStoreUnavailable", True)),
        (ArtifactError("artifact:///x is damaged"), ("Internal", "ArtifactDamaged", True)),
        (RuntimeError("what nobody foresaw"), ("Internal", "TrainerError", True)),
    ],
)
def test_every_failure_has_a_category_and_a_message(cause, expected):
    failure = explain_failure(cause)
    assert (failure.category, failure.reason, failure.retryable) == expected
    assert failure.message[0].isupper() or failure.message.startswith("artifact")


def test_a_failed_job_does_not_affect_others_and_each_has_its_own_log(status_server, run_jobs):
    good = [offer_sft(status_server, ROWS * 10) for _ in range(2)]
    bad = [status_server.add("SFT", b"{", {}), status_server.add("RL", b'{"trajectory_groups": 1}', {})]
    failures = run_jobs(max_jobs=4)
    assert [failure and failure["category"] for failure in failures] == [None, None, "User", "User"]
    assert read_weights(status_server, good[0]).keys() == read_weights(status_server, good[1]).keys()
    for job in (*good, *bad):
        others = {other.claim["id"] for other in status_server.jobs.values()} - {job.claim["id"]}
        text = "\n".join(job.lines)
        assert job.lines[0].startswith(f"job claimed job={job.claim['id']}")
        assert f"job {'trained' if job in good else 'failed'} job={job.claim['id']}" in job.lines[-1]
        assert not any(other in text for other in others)


@pytest.mark.parametrize("method", ["backward", "open"])
def test_a_device_failure_ends_one_job_and_releases_the_others(status_server, run_jobs, scheduler, monkeypatch, method):
    jobs = [offer_sft(status_server, ROWS * 200) for _ in range(3)]
    whole, calls = getattr(scheduler.executor, method), []

    def fail(*args):
        calls.append(1)
        if len(calls) == 3:
            raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
        return whole(*args)

    monkeypatch.setattr(scheduler.executor, method, fail)
    failures = run_jobs(max_jobs=3)
    assert sorted(failure["reason"] for failure in failures if failure) == ["DeviceFailed"]
    assert sorted(job.state for job in jobs) == ["Failed", "Queued", "Queued"]
    assert len(calls) == 3

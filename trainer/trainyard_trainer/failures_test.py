"""Whatever goes wrong with a job is told with a sentence to act on, and touches no other job."""

import errno

import pytest
import torch

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_trainer.compute import forward
from trainyard_trainer.control_for_tests import write_rows
from trainyard_trainer.failures import explain_failure
from trainyard_trainer.work_for_tests import ROWS, locate, offer_sft, read_weights, shorten


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
def test_input_that_cannot_be_read_is_the_users_to_mend(control, work, method, content, sentence):
    control.add(method, content, {})
    (failure,) = work()
    assert (failure["category"], failure["retryable"]) == ("User", False)
    assert sentence in failure["message"]


def test_input_that_is_not_what_was_sent_is_refused(control, work):
    job = offer_sft(control)
    locate(control, job.claim["input"]).write_bytes(write_rows(ROWS[:1]))
    (failure,) = work()
    assert shorten(failure) == ("User", "InputUnusable", False)
    assert "has the digest" in failure["message"]


def test_a_loss_that_is_no_number_is_told(control, work, monkeypatch):
    monkeypatch.setattr(
        forward, "score_hidden", lambda head, hidden_N_D, targets_N, vocabulary: (hidden_N_D.sum(1) * torch.nan,) * 2
    )
    offer_sft(control)
    (failure,) = work()
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
def test_every_fault_has_a_kind_and_a_sentence(cause, expected):
    failure = explain_failure(cause)
    assert (failure.category, failure.reason, failure.retryable) == expected
    assert failure.message[0].isupper() or failure.message.startswith("artifact")


def test_a_job_that_fails_touches_no_other_and_each_has_its_own_log(control, work):
    good = [offer_sft(control, ROWS * 10) for _ in range(2)]
    bad = [control.add("SFT", b"{", {}), control.add("RL", b'{"trajectory_groups": 1}', {})]
    failures = work(max_jobs=4)
    assert [failure and failure["category"] for failure in failures] == [None, None, "User", "User"]
    assert read_weights(control, good[0]).keys() == read_weights(control, good[1]).keys()
    for job in (*good, *bad):
        others = {other.claim["id"] for other in control.jobs.values()} - {job.claim["id"]}
        text = "\n".join(job.lines)
        assert job.lines[0].startswith(f"job claimed job={job.claim['id']}")
        assert f"job {'trained' if job in good else 'failed'} job={job.claim['id']}" in job.lines[-1]
        assert not any(other in text for other in others)


@pytest.mark.parametrize("method", ["backward", "open"])
def test_a_device_that_fails_ends_one_job_and_gives_the_others_back(control, work, turns, monkeypatch, method):
    jobs = [offer_sft(control, ROWS * 200) for _ in range(3)]
    whole, calls = getattr(turns.machine, method), []

    def fail(*args):
        calls.append(1)
        if len(calls) == 3:
            raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
        return whole(*args)

    monkeypatch.setattr(turns.machine, method, fail)
    failures = work(max_jobs=3)
    assert sorted(failure["reason"] for failure in failures if failure) == ["DeviceFailed"]
    assert sorted(job.state for job in jobs) == ["Failed", "Queued", "Queued"]
    assert len(calls) == 3

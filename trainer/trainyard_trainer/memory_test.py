"""A job that runs out of memory is retried once with smaller passes. If that is not enough, its error has a hint."""

import json

import pytest
import torch

from testing.worker_jobs import ROWS, offer_sft, read_weights, shorten
from trainyard_trainer.compute.model import forward
from trainyard_trainer.compute.scheduling.policy import Policy


@pytest.fixture
def spare_memory(monkeypatch):
    """Passes of more than `max_tokens` tokens run out of memory. Returns the tokens of each attempted pass."""

    def limit(max_tokens):
        tried, build = [], forward.build_layout

        def build_layout(examples, device):
            tried.append(sum(example.num_tokens for example in examples))
            if tried[-1] > max_tokens:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            return build(examples, device)

        monkeypatch.setattr(forward, "build_layout", build_layout)
        return tried

    return limit


def test_out_of_memory_is_tried_again_in_smaller_batches_with_the_same_result(status_server, run_jobs, spare_memory):
    default = offer_sft(status_server)
    run_jobs()
    tried = spare_memory(100)
    job = offer_sft(status_server)
    assert run_jobs(Policy(160)) == [None]
    assert tried[0] > 100 >= max(tried[1:])
    assert "out of memory, trying again with smaller batches" in "\n".join(job.lines)
    losses = [each.events[1]["data"]["loss"] for each in (default, job)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    for name, weights in read_weights(status_server, default).items():
        torch.testing.assert_close(read_weights(status_server, job)[name], weights, rtol=1e-3, atol=1e-5)


def test_out_of_memory_while_scoring_is_tried_again_in_smaller_batches(
    status_server, run_jobs, spare_memory, make_choice
):
    asked = {"role": "user", "content": "Name a colour."}
    trajectories = [
        {"messages_and_choices": [asked, make_choice("Red. " * 9)], "reward": float(reward)} for reward in (0, 1, 2, 3)
    ]
    groups = [{"trajectories": [each]} for each in trajectories] + [{"trajectories": trajectories}]
    content = json.dumps({"trajectory_groups": groups}).encode()
    tried = spare_memory(100)
    job = status_server.add("RL", content, {"precalculate_logprobs": True})
    assert run_jobs(Policy(160)) == [None]
    assert tried[0] > 100
    assert "out of memory" in "\n".join(job.lines)


def test_too_little_memory_for_smaller_batches_fails_with_a_hint(status_server, run_jobs, spare_memory):
    tried = spare_memory(10)
    job = offer_sft(status_server)
    (failure,) = run_jobs(Policy(160))
    assert len(tried) == 2
    assert shorten(failure) == ("Capacity", "CudaOutOfMemory", True)
    assert "shorter trajectories" in failure["message"]
    assert job.checkpoints == []
    assert not (status_server.root / "checkpoints").exists()


def test_a_job_that_needs_too_much_memory_fails_without_those_that_it_was_computed_with(
    status_server, run_jobs, spare_memory
):
    spare_memory(400)
    small = [offer_sft(status_server, ROWS * 8), offer_sft(status_server, ROWS * 8)]
    large = offer_sft(status_server, [("Name a colour.", "Red. " * 300)] * 4)
    assert [failure and failure["reason"] for failure in run_jobs(Policy(600, "Any"), max_jobs=3)] == [
        None,
        None,
        "CudaOutOfMemory",
    ]
    assert [len(job.checkpoints) for job in (*small, large)] == [1, 1, 0]

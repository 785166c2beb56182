import json
from random import Random

import numpy as np
import pytest
import torch

from testing.histories import score_choices
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.distance import SamplerDistance

USER = {"role": "user", "content": "Name a colour."}
MEAN, MAXIMUM = "sampler_logprob_mean_diff", "sampler_logprob_max_diff"
WORDS = ["Red", "Blue", "Teal", "is", "nice", "warm", "and", "a", "cold", "colour", "owl", "."]


def make_sample(old, original=None):
    example = make_example([5] * (len(old) + 1), [False] + [True] * len(old), 0)
    known = None if original is None else np.array(original, np.float32)
    return Sample(example.ids, example.trained, 0, 0, 0, 1.0, 1.0, np.array(old, np.float32), known)


def column(*logprobs):
    return {"logprob": np.array(logprobs, np.float32)}


@pytest.mark.parametrize(
    ("samples", "columns", "numbers"),
    [
        ([make_sample([-1.0, -2.0])], [column(-1.5, -2.0)], {MEAN: 0.25, MAXIMUM: 0.5}),
        ([make_sample([-1.0]), make_sample([-3.0])], [column(-1.0), column(-1.0)], {MEAN: 1.0, MAXIMUM: 2.0}),
        ([make_sample([np.nan, -1.0])], [column(-5.0, -1.25)], {MEAN: 0.25, MAXIMUM: 0.25}),
        ([make_sample([-9999.0, -1.0])], [column(-1.0, -1.0)], {MEAN: 10.0, MAXIMUM: 20.0}),
        ([make_sample([np.nan])], [column(-1.0)], {}),
        # The trainer's own log-probabilities took the place of the sampled ones.
        ([make_sample([-1.0], [-3.0])], [column(-1.0)], {MEAN: 2.0, MAXIMUM: 2.0}),
    ],
)
def test_the_difference_of_the_known_tokens(samples, columns, numbers):
    assert SamplerDistance().measure(samples, columns) == pytest.approx(numbers)


def test_the_limit_depends_on_the_numbers_of_the_base_model():
    distance = SamplerDistance({MEAN: 0.05})
    assert [len(distance.find_warnings(dtype)) for dtype in (torch.float32, torch.bfloat16)] == [1, 0]
    assert SamplerDistance().find_warnings(torch.float32) == []


@pytest.fixture
def train(jobs, make_choice):
    """Trains on two random answers, which a checkpoint or the base model gives their log-probabilities."""

    def run(random, *, change=lambda item: item, sampled_from=None, start=None, **config):
        texts = [" ".join(random.choices(WORDS, k=random.randint(1, 20))) for _ in range(2)]
        checkpoint = sampled_from and jobs.root / sampled_from.uri.removeprefix("artifact:///")
        trajectories = [
            {
                "messages_and_choices": [
                    *map(change, score_choices([USER, make_choice(text)], jobs.scheduler, checkpoint))
                ],
                "reward": float(index),
            }
            for index, text in enumerate(texts)
        ]
        content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
        return jobs.run("RL", content, {"learning_rate": 0.03} | config, start=start)

    return run


def list_codes(reports):
    return [code for code, _ in reports.warnings]


def test_no_right_job_warns(train):
    """Each of 200 jobs of random answers, at once or with the trainer's own log-probabilities, is near its sampler."""
    random = Random(0)
    for index in range(200):
        reports = train(random, precalculate_logprobs=index % 2 == 1)
        assert list_codes(reports) == []
        assert reports.steps[0][MEAN] < 1e-3
        assert reports.metrics[MAXIMUM] == reports.steps[0][MAXIMUM]


def test_a_job_that_began_with_the_sampler_does_not_warn(train):
    first = train(Random(1)).checkpoint
    assert list_codes(train(Random(2), sampled_from=first, start=first)) == []


def test_an_adapter_that_was_not_applied_is_told(train):
    first = train(Random(1)).checkpoint
    assert list_codes(train(Random(1), start=first)) == ["far_from_sampler"]


def test_another_revision_of_the_base_model_is_told(train):
    first = train(Random(1)).checkpoint
    assert list_codes(train(Random(1), sampled_from=first)) == ["far_from_sampler"]


def test_another_template_is_told(train):
    asked = {"role": "user", "content": "User: Name a colour.\nAssistant:"}
    other = train(Random(1), change=lambda item: asked if item is USER else item)
    assert list_codes(other) == ["far_from_sampler"]


def heat(item, temperature):
    """The log-probabilities that a sampler of another temperature reports of a peaked distribution."""
    if "logprobs" not in item:
        return item
    entries = [entry | {"logprob": entry["logprob"] / temperature} for entry in item["logprobs"]["content"]]
    return item | {"logprobs": {"content": entries}}


@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.5])
def test_another_temperature_is_told(train, temperature):
    assert list_codes(train(Random(1), change=lambda item: heat(item, temperature))) == ["far_from_sampler"]


def test_the_numbers_are_of_the_first_step_only(train):
    reports = train(Random(1), packed_sequence_length=56)
    assert len(reports.steps) == 2
    assert [MEAN in step for step in reports.steps] == [True, False]

"""The reports of jobs: an event for each announced sequence, all with the same finite numbers."""

import json
import math
import random

import numpy as np
import pytest
import torch

from testing.seeds import draw_seeds
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step

USER = {"role": "user", "content": "Name a colour."}
WORDS = "Red. Blue. Teal. Dark green, I would say. A light and rather friendly grey. Pink!".split(". ")
RL_NUMBERS = {
    "loss",
    "grad_norm",
    "learning_rate",
    "entropy",
    "kl_div",
    "clip_fraction",
    "num_trainable_tokens",
    "tokens_per_second",
    "memory_bytes",
    "reward",
    "reward_std_dev",
    "num_groups_submitted",
    "num_groups_trainable",
    "num_trajectories",
    "num_dropped_trajectories",
}
OF_FIRST_STEP = {"sampler_logprob_mean_diff", "sampler_logprob_max_diff"}


def require_regular(reports) -> None:
    (_, first, announced), *events = reports
    assert first == "training_started"
    assert [(number, kind) for number, kind, _ in events] == [
        (index, "gradient_step") for index in range(1, announced["num_sequences"] + 1)
    ]
    for numbers in (*reports.steps, reports.metrics):
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in numbers.values()), numbers
        assert "policy_loss" not in numbers
        assert not reports.steps or numbers.keys() - OF_FIRST_STEP == reports.steps[0].keys() - OF_FIRST_STEP


@pytest.mark.parametrize("seed", draw_seeds(2))
def test_rl_jobs(jobs, make_choice, seed):
    chance = random.Random(seed)
    groups = []
    for _ in range(chance.randint(0, 4)):
        question = {"role": "user", "content": "Name a colour. " * chance.randint(1, 40)}
        trajectories = [
            {
                "messages_and_choices": [question, make_choice(chance.choice(WORDS))],
                "reward": chance.choice([0, 0.5, 1]),
            }
            for _ in range(chance.randint(0, 5))
        ]
        groups.append({"trajectories": trajectories})
    config = {
        "learning_rate": 1e-3,
        "kl_penalty_coef": chance.choice([0, 0.1]),
        "ppo": chance.random() < 0.5,
        "precalculate_logprobs": chance.random() < 0.5,
    }
    content = json.dumps({"trajectory_groups": groups}).encode()
    reports = jobs.run("RL", content, config, max_length=chance.choice([80, 150, 4096]))
    require_regular(reports)
    wanted = RL_NUMBERS | ({"kl_policy_ref"} if config["kl_penalty_coef"] else set())
    assert [set(step) - wanted for step in reports.steps] == [OF_FIRST_STEP, *[set()] * len(reports.steps)][
        : len(reports.steps)
    ]
    assert all(wanted <= set(step) for step in reports.steps)


@pytest.mark.parametrize("seed", draw_seeds(2))
def test_sft_jobs(jobs, seed):
    chance = random.Random(seed)
    rows = [
        {"messages": [USER, {"role": "assistant", "content": chance.choice(WORDS) * chance.randint(1, 12)}]}
        for _ in range(chance.randint(1, 9))
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    config = {"batch_size": chance.randint(1, 4), "learning_rate": 1e-3}
    max_length = chance.choice([3, 60, 4096])
    reports = jobs.run("SFT", content, config, max_length=max_length)
    require_regular(reports)
    num_batches = -(-len(rows) // config["batch_size"])
    # Rows that are too long are left out, and so is a batch of only such rows.
    fewest, most = {3: (0, 0), 60: (0, num_batches), 4096: (num_batches, num_batches)}[max_length]
    assert fewest <= len(reports.steps) <= most


def test_several_sequences_are_several_events(jobs, make_choice):
    questions = [{"role": "user", "content": f"{number} " * 500} for number in range(4)]
    groups = [
        {
            "trajectories": [
                {"messages_and_choices": [question, make_choice(text)], "reward": reward}
                for text, reward in (("Red.", 1.0), ("Blue.", 0.0))
            ]
        }
        for question in questions
    ]
    reports = jobs.run("RL", json.dumps({"trajectory_groups": groups}).encode(), {}, max_length=1200)
    require_regular(reports)
    assert len(reports.steps) > 1


def make_sample(advantage: float, weight: float, old: list[float], reference: list[float] | None) -> Sample:
    count = len(old)
    return Sample(
        np.arange(count + 1),
        np.arange(count + 1) > 0,
        0,
        0,
        0,
        advantage,
        weight,
        np.array(old, np.float32),
        reference_logprobs=None if reference is None else np.array(reference, np.float32),
    )


@pytest.mark.parametrize("has_reference", [False, True])
def test_the_numbers_of_a_step_by_hand(has_reference):
    """Three tokens of two samples: ratios exp(1), exp(-2) and 1; clipped beyond 0.5 and 1.5."""
    reference = [-2.0, -2.0] if has_reference else None
    first = make_sample(1.0, 2.0, [-2.0, -1.0], reference)
    second = make_sample(-1.0, 0.5, [math.nan], [-4.0] if has_reference else None)
    step = build_step([first, second], parse_config({"epsilon": 0.5, "epsilon_high": 0.5}))
    new = torch.tensor([-1.0, -3.0, -0.5], requires_grad=True)
    entropies = torch.tensor([1.0, 2.0, 4.0])
    mean_kl = step.objective.compute_mean_kl(step.examples, [new.detach().numpy()]) if has_reference else 0.0
    measured = step.objective.measure(step.examples, new, entropies, mean_kl)
    found = step.objective.describe({name: value.item() for name, value in measured.sums.items()}, step.num_trained)
    wanted = {
        "kl_div": ((math.e - 1 - 1) + (math.exp(-2) - 1 + 2) + 0) / 3,
        "clip_fraction": 2 / 3,
        "entropy": (2 * 1 + 2 * 2 + 0.5 * 4) / (2 + 2 + 0.5),
        "learning_rate": parse_config({}).learning_rate,
    }
    if has_reference:
        # Of the sampled log-probabilities; an unknown one is the new one.
        wanted["kl_policy_ref"] = ((-2 + 2) + (-1 + 2) + (-0.5 + 4)) / 3
    assert found == pytest.approx(wanted, rel=1e-5)
    # -clip(ratio) * advantage * weight * log p, and an unknown ratio is 1
    assert measured.loss.item() == pytest.approx(1.5 * 2 * 1 + 0.5 * 2 * 3 - 0.5 * 0.5, rel=1e-5)
    assert step.divisor == pytest.approx(3)

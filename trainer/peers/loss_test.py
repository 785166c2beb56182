"""Compares the loss of a sequence of samples, and its gradient, with ART's, over random samples for every setting."""

import math
import warnings
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
import torch
from art.loss import LossInputs, loss_fn

from peers.sizes import measure_sizes
from testing.rounding import bound_rounding
from testing.seeds import draw_seeds
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.loss import compute_losses
from trainyard_trainer.rl.objective import build_batch, build_step
from trainyard_trainer.rl.settings import IMPORTANCE_SAMPLING_LEVELS, RlConfig

SPREADS = {"epsilon": [0.1, 0.3, 0.9], "epsilon_high": [0.2, 0.5, 3.0]}
CHOICES = {
    "ppo": [True, False],
    "importance_sampling_level": list(IMPORTANCE_SAMPLING_LEVELS),
    "mask_prob_ratio": [True, False],
    "max_negative_advantage_importance_sampling_weight": [0.8, 1.5],
    "kimi_k2_tau": [0.05, 1.0],
    "kl_penalty_coef": [0.1, 1.0],
    "kl_penalty_source": ["current_learner", "sample"],
    "truncated_importance_sampling": [0.7, 2.0],
}
EACH = [
    {},
    {"ppo": True},
    *({name: value} for name, values in (SPREADS | CHOICES).items() for value in values),
    *({name: value, "ppo": True} for name, values in SPREADS.items() for value in values),
    *({"importance_sampling_level": level, "ppo": True} for level in IMPORTANCE_SAMPLING_LEVELS),
    *({"kl_penalty_coef": 0.3, "kl_penalty_source": source} for source in ("current_learner", "sample")),
]


# ART's client always sends it; its loss has another default.
SENT = {"kl_penalty_source": "sample"}


def choose_settings(seed: int) -> dict:
    """Each setting is on with probability 1/2."""
    random = Random(seed)
    return {name: random.choice(values) for name, values in (SPREADS | CHOICES).items() if random.random() < 0.5}


class Sequence:
    """Random samples in one sequence, in both forms: rows [1, S] for ART, samples for the trainer.

    ART's row of new log-probabilities has at each position that of the next token.
    """

    def __init__(self, seed: int, *, precalculated: bool, unknown: float):
        self.random = np.random.default_rng(seed)
        self.samples = [self.make_sample(index, precalculated, unknown) for index in range(self.draw(1, 6))]
        self.new = self.random.normal(-1.0, 0.7, (1, sum(sample.num_tokens for sample in self.samples)))

    def draw(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high))

    def make_sample(self, index: int, precalculated: bool, unknown: float) -> Sample:
        trained = self.random.random(self.draw(3, 40)) < 0.6
        trained[0], trained[-1] = False, True
        size = int(trained.sum())

        def draw_logprobs() -> np.ndarray:
            return self.random.normal(-1.0, 0.7, size).astype(np.float32)

        old = draw_logprobs()
        original = np.where(self.random.random(size) < unknown, math.nan, old).astype(np.float32)
        return Sample(
            np.zeros(len(trained), np.int64),
            trained,
            family=0,
            trajectory=index,
            history=0,
            advantage=self.random.normal(),
            weight=self.random.uniform(0.2, 3.0),
            old_logprobs=draw_logprobs() if precalculated else original,
            original_logprobs=original if precalculated else None,
            reference_logprobs=draw_logprobs(),
        )

    def spread(self, values: list[np.ndarray], fill: float) -> torch.Tensor:
        """[1, S]: the values [n] of each sample's trained tokens at their positions."""
        row = np.full(self.new.shape, fill, np.float32)
        row[0, np.concatenate([sample.trained for sample in self.samples])] = np.concatenate(values)
        return torch.from_numpy(row)

    def describe_to_art(self) -> dict[str, torch.Tensor]:
        ones = [np.ones(sample.num_trained) for sample in self.samples]
        groups = np.repeat(self.random.integers(-(2**63), 2**63 - 1, len(ones)), [s.num_tokens for s in self.samples])
        weights = [one * sample.weight for one, sample in zip(ones, self.samples, strict=True)]
        advantages = [one * sample.advantage for one, sample in zip(ones, self.samples, strict=True)]
        inputs = {
            "logprobs": self.spread([sample.old_logprobs for sample in self.samples], math.nan),
            "assistant_mask": self.spread(ones, 0.0).bool(),
            "weights": self.spread(weights, 0.0),
            "advantages": self.spread(advantages, 0.0),
            "group_ids": torch.from_numpy(groups[None]),
        }
        if self.samples[0].original_logprobs is not None:
            inputs["original_logprobs"] = self.spread([s.original_logprobs for s in self.samples], math.nan)
        return inputs


def compute_theirs(sequence: Sequence, settings: dict) -> tuple[float, torch.Tensor]:
    new = torch.tensor(sequence.new, dtype=torch.float32, requires_grad=True)
    reference = sequence.spread([sample.reference_logprobs for sample in sequence.samples], 0.0).roll(-1, 1)
    with warnings.catch_warnings(action="ignore"):  # about a correlation of too few tokens, which is not used here
        loss = loss_fn(LossInputs(inputs=sequence.describe_to_art()), new, reference, None, SENT | settings).policy_loss
    loss.backward()
    return loss.item(), new.grad


@dataclass(frozen=True)
class Ours:
    """The loss and its gradient, and how far rounding may move each of them."""

    loss: float
    gradient: torch.Tensor
    loss_bound: float
    gradient_bound: float


def compute_ours(sequence: Sequence, settings: dict) -> Ours:
    new = torch.tensor(sequence.new, dtype=torch.float32, requires_grad=True)
    indices = np.flatnonzero(np.concatenate([sample.trained for sample in sequence.samples])) - 1
    config = parse_config(settings)
    # The trainer computes a reference only for the penalty.
    unreferred = [replace(sample, reference_logprobs=None) for sample in sequence.samples]
    samples = sequence.samples if config.kl_penalty_coef else unreferred
    step = build_step(samples, config)
    logprobs_N = new[0, torch.from_numpy(indices)]
    counts = np.cumsum([sample.num_trained for sample in samples])[:-1]
    rows = np.split(logprobs_N.detach().numpy(), counts)
    mean_kl = step.objective.compute_mean_kl(samples, rows) if step.objective.needs_prepass else 0.0
    loss = step.objective.measure(samples, logprobs_N, torch.zeros_like(logprobs_N), mean_kl).loss / step.divisor
    loss.backward()
    sizes = measure_sizes(logprobs_N, build_batch(samples, mean_kl, torch.device("cpu")), config)
    loss_bound = bound_rounding(sizes.losses_N.sum().item() / step.divisor)
    return Ours(loss.item(), new.grad, loss_bound, bound_rounding(sizes.gradients_N.norm().item() / step.divisor))


def assert_same(seed: int, settings: dict, **shape: float) -> None:
    sequence = Sequence(seed, **shape)
    ours = compute_ours(sequence, settings)
    loss, gradient = compute_theirs(sequence, settings)
    assert ours.loss == pytest.approx(loss, rel=0, abs=ours.loss_bound), (seed, settings)
    assert (ours.gradient - gradient).norm() <= ours.gradient_bound, (seed, settings)


@pytest.mark.parametrize("settings", EACH, ids=str)
@pytest.mark.parametrize("precalculated", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.3, 1.0])
def test_each_setting_by_itself(settings, precalculated, unknown):
    for seed in draw_seeds(1):
        assert_same(seed, settings, precalculated=precalculated, unknown=unknown)


def test_settings_together():
    for seed in draw_seeds(80):
        assert_same(seed, choose_settings(seed), precalculated=seed % 3 == 0, unknown=(seed % 4) / 4)


def test_shuffling_samples_changes_no_tokens_loss():
    for seed in draw_seeds(20):
        sequence = Sequence(seed, precalculated=seed % 3 == 0, unknown=(seed % 4) / 4)
        config = parse_config(choose_settings(seed))
        counts = np.cumsum([sample.num_tokens for sample in sequence.samples])[:-1]
        rows = [row[1:] for row in np.split(sequence.new[0], counts)]
        order = Random(seed).sample(range(len(rows)), len(rows))
        before, bounds = measure_tokens(sequence.samples, rows, config)
        after, _ = measure_tokens(
            [sequence.samples[index] for index in order], [rows[index] for index in order], config
        )
        for index, losses in zip(order, after, strict=True):
            apart = np.abs(losses - before[index])
            assert (apart <= bounds[index]).all(), (seed, apart / bounds[index])


def measure_tokens(
    samples: list[Sample], rows: list[np.ndarray], config: RlConfig
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The losses of each sample's trained tokens, and how far rounding may move them. `rows` have the
    log-probabilities of all tokens except the first."""
    new = [row[sample.trained[1:]].astype(np.float32) for sample, row in zip(samples, rows, strict=True)]
    mean_kl = build_step(samples, config).objective.compute_mean_kl(samples, new)
    batch = build_batch(samples, mean_kl, torch.device("cpu"))
    new_N = torch.from_numpy(np.concatenate(new))
    losses_N = compute_losses(new_N, batch, config).losses_N
    bounds_N = bound_rounding(measure_sizes(new_N, batch, config).losses_N)
    ends = np.cumsum([sample.num_trained for sample in samples])[:-1]
    return np.split(losses_N.numpy(), ends), np.split(bounds_N.numpy(), ends)

"""From rewards to the advantage and the weight of every trained token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

import numpy as np
from numpy.typing import NDArray

from trainyard_trainer.compute.rows.example import Example

# Avoids a division by zero for a spread or a count of zero. ART uses the same value.
TINY = 1e-6
Logprobs = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Sample(Example):
    """One history with what its n trained tokens are pushed by. `family` is its group's index in the payload,
    `trajectory` its trajectory's index in the group, and `history` its own index in that.

    `old_logprobs` [n] are those that the tokens were sampled with, NaN where unknown; `original_logprobs` the same
    where the trainer's own took their place; `reference_logprobs` those of the policy that the penalty refers to.
    """

    trajectory: int
    history: int
    advantage: float
    weight: float
    old_logprobs: Logprobs
    original_logprobs: Logprobs | None = None
    reference_logprobs: Logprobs | None = None


# Rewards that differ by less than this share of their size are equal: a sum of floats depends on its order, and a
# reward of float32 has seven digits. Without it, such a difference would be scaled up to an advantage of one.
EQUAL_SHARE = 1e-6
# So are rewards that differ by less than this, as in ART.
EQUAL_DISTANCE = 1e-12


def are_equal(rewards: Sequence[float]) -> bool:
    """Whether rewards are the same but for the noise of floating point."""
    size = max(map(abs, rewards), default=0.0)
    return not rewards or max(rewards) - min(rewards) <= max(EQUAL_DISTANCE, EQUAL_SHARE * size)


def compute_advantages(rewards: list[float], *, scale: bool) -> list[float]:
    """r - mean, divided by the population's standard deviation if scaled. Equal rewards give exact zeros."""
    if are_equal(rewards):
        return [0.0] * len(rewards)
    mean = fmean(rewards)
    spread = pstdev(rewards) + TINY if scale else 1.0
    return [(reward - mean) / spread for reward in rewards]


def weigh_trajectory(num_trained: int) -> float:
    """All trajectories have the same total weight: one divided by the number of their trained tokens."""
    return 1.0 / (num_trained + TINY)


def normalize_samples(samples: Sequence[Sample], balance: float) -> list[Sample]:
    """Normalizes over all trained tokens of the job: mean weight 1, the balance, then mean |advantage x weight| 1."""
    counts = [sample.num_trained for sample in samples]
    total = sum(counts)
    if not total:
        return []
    mean_weight = sum(sample.weight * count for sample, count in zip(samples, counts, strict=True)) / total
    samples = [
        replace(
            sample,
            weight=sample.weight / mean_weight,
            advantage=balance_advantage(sample.advantage, balance),
        )
        for sample in samples
    ]
    pairs = zip(samples, counts, strict=True)
    size = sum(abs(sample.advantage) * sample.weight * count for sample, count in pairs) / total
    if size == 0:
        return []  # the balance removed everything
    return [replace(sample, advantage=sample.advantage / size) for sample in samples]


def balance_advantage(advantage: float, balance: float) -> float:
    """A balance above 0 reduces negative advantages. A balance below 0 reduces positive ones."""
    if balance > 0 and advantage < 0:
        return advantage * (1 - balance)
    if balance < 0 and advantage > 0:
        return advantage * (1 + balance)
    return advantage

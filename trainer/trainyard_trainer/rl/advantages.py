"""From rewards to the advantage and the weight of every trained token."""

from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from trainyard_trainer.tokens.history import TokenizedHistory

# Keeps a division by a spread or a count of zero finite; ART uses the same.
TINY = 1e-6


@dataclass(frozen=True)
class Sample:
    """One tokenized history with what its trained tokens are pushed by; `group` is its place in the payload."""

    tokens: TokenizedHistory
    group: int
    advantage: float
    weight: float


def compute_advantages(rewards: list[float], *, scale: bool) -> list[float]:
    """r - mean, over the population's spread if scaled. Equal rewards give exact zeros."""
    if not rewards or all(reward == rewards[0] for reward in rewards):
        return [0.0] * len(rewards)
    mean = fmean(rewards)
    spread = pstdev(rewards) + TINY if scale else 1.0
    return [(reward - mean) / spread for reward in rewards]


def weigh_trajectory(histories: list[TokenizedHistory]) -> float:
    """Trajectories count equally, however long: one over the number of their trained tokens."""
    return 1.0 / (sum(history.num_trained for history in histories) + TINY)


def normalize_samples(samples: list[Sample], balance: float) -> list[Sample]:
    """Over all trained tokens of the job: mean weight 1, then the balance, then mean |advantage x weight| 1."""
    counts = [sample.tokens.num_trained for sample in samples]
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
        return []  # the balance took away whatever there was
    return [replace(sample, advantage=sample.advantage / size) for sample in samples]


def balance_advantage(advantage: float, balance: float) -> float:
    """Above 0 the balance shrinks negative advantages, below 0 positive ones."""
    if balance > 0 and advantage < 0:
        return advantage * (1 - balance)
    if balance < 0 and advantage > 0:
        return advantage * (1 + balance)
    return advantage

"""The policy-gradient loss as the objective of a step, and the step's numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer.compute.rows.step import Measured, Numbers, Step
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.loss import TokenBatch, TokenLosses, compute_losses, count_divisor
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.statistics.tokens import CLIPPED_HIGH, CLIPPED_LOW, MASKED

# Limits a difference of log-probabilities, in nats, in the estimate of the divergence, so that no sum overflows.
MAX_RISE, MAX_FALL = 20.0, 10_000.0


@dataclass(frozen=True)
class RlObjective:
    """`has_reference` says whether the samples have log-probabilities of a reference policy."""

    config: RlConfig
    has_reference: bool

    @property
    def needs_prepass(self) -> bool:
        return self.has_reference

    def compute_mean_kl(self, samples: Sequence[Sample], logprobs: Sequence[np.ndarray]) -> float:
        """The mean of log p_source - log p_reference over the step's tokens."""
        reference = join([sample.reference_logprobs for sample in samples])
        if reference is None:
            return 0.0
        source = new = np.concatenate(logprobs)
        if self.config.kl_penalty_source == "sample":
            old = np.concatenate([sample.old_logprobs for sample in samples])
            source = np.where(np.isfinite(old), old, new)
        return float((source - reference).mean())

    def measure(self, samples: Sequence[Sample], logprobs_N: Tensor, entropies_N: Tensor, mean_kl: float) -> Measured:
        batch = build_batch(samples, mean_kl, logprobs_N.device)
        found = compute_losses(logprobs_N, batch, self.config)
        sums = sum_up(found, batch, entropies_N)
        if batch.reference_logprobs_N is not None:
            sums["kl_policy_ref"] = logprobs_N.new_tensor(mean_kl * len(logprobs_N))
        return Measured(found.losses_N.sum(), sums, list_columns(found, logprobs_N, entropies_N))

    def describe(self, sums: Numbers, num_trained: int) -> Numbers:
        numbers = {name: sums[name] / num_trained for name in ("kl_div", "clip_fraction")}
        numbers["entropy"] = sums["weighted_entropy"] / sums["weight"]
        # Not multiplied by the number of trajectories, as in ART.
        numbers["learning_rate"] = self.config.learning_rate
        if self.has_reference:
            numbers["kl_policy_ref"] = sums["kl_policy_ref"] / num_trained
        return numbers


def build_step(samples: Sequence[Sample], config: RlConfig) -> Step:
    has_reference = bool(samples) and samples[0].reference_logprobs is not None
    divisor = count_divisor(sum(sample.num_trained for sample in samples))
    learning_rate = config.learning_rate * len(samples) ** config.num_trajectories_learning_rate_multiplier_power
    return Step(tuple(samples), RlObjective(config, has_reference), learning_rate, divisor)


def build_batch(samples: Sequence[Sample], mean_kl: float, device: torch.device) -> TokenBatch:
    counts = [sample.num_trained for sample in samples]

    def repeat(read: Callable[[Sample], float], dtype: type) -> Tensor:
        return torch.from_numpy(np.repeat(np.array([read(sample) for sample in samples], dtype), counts)).to(device)

    def move(column: np.ndarray | None) -> Tensor | None:
        return None if column is None else torch.from_numpy(column).to(device)

    return TokenBatch(
        old_logprobs_N=torch.from_numpy(np.concatenate([sample.old_logprobs for sample in samples])).to(device),
        advantages_N=repeat(lambda sample: sample.advantage, np.float32),
        weights_N=repeat(lambda sample: sample.weight, np.float32),
        sample_N=torch.from_numpy(np.repeat(np.arange(len(samples)), counts)).to(device),
        original_logprobs_N=move(join([sample.original_logprobs for sample in samples])),
        reference_logprobs_N=move(join([sample.reference_logprobs for sample in samples])),
        mean_kl=mean_kl,
    )


def join(columns: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Either all samples of a step have a column, or none has."""
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if known else None


def sum_up(found: TokenLosses, batch: TokenBatch, entropies_N: Tensor) -> dict[str, Tensor]:
    """kl_div is Schulman's estimate of KL(old, new) from samples of old: exp(d) - 1 - d, which is never negative."""
    # Samplers report -9999 for an impossible token. Without the limit, the estimate would be infinite.
    differences_N = found.differences_N.clamp(-MAX_FALL, MAX_RISE)
    clipped = found.clipped_low_N | found.clipped_high_N
    return {
        "kl_div": (differences_N.exp() - 1 - differences_N).sum(),
        "clip_fraction": clipped.sum().float(),
        "weighted_entropy": (entropies_N * batch.weights_N).sum(),
        "weight": batch.weights_N.sum(),
    }


def list_columns(found: TokenLosses, logprobs_N: Tensor, entropies_N: Tensor) -> dict[str, Tensor]:
    flags = found.masked_N * MASKED + found.clipped_low_N * CLIPPED_LOW + found.clipped_high_N * CLIPPED_HIGH
    return {
        "logprob": logprobs_N.detach(),
        "ratio": found.ratios_N,
        "entropy": entropies_N,
        "flags": flags.to(torch.uint8),
    }

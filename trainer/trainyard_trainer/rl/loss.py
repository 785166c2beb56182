"""The policy-gradient loss on sampled tokens, as ART computes it (`art.loss`, openpipe-art 0.5.23).

With d = log p_new - log p_old per token (0 where p_old is unknown) and r = exp(d), or a sequence's r (see
`compute_ratio`), and A the advantage:

    CISPO   L = -clip(stop(r), 1 - epsilon, 1 + epsilon_high) * A * log p_new
    PPO     L = -min(r * A, clip(r, 1 - epsilon, 1 + epsilon_high) * A)

    loss = sum(L * weight) / (trained tokens of the sequence)

Before it, in this order: r is bounded, r is masked to 0 outside the clip range, kimi_k2_tau * d is taken off A, and A
gets the penalty kl_penalty_coef * (mean k - k), with k = log p_source - log p_reference. The source is the model that
learns, or the sampler (p_old). After it, where the trainer's own probabilities took the place of the sampled ones, L is
multiplied by min(p_old / p_sampled, truncated_importance_sampling).

Shapes: N trained tokens of several samples, one sample after the other.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from trainyard_trainer.rl.config import uses_ppo
from trainyard_trainer.rl.settings import RlConfig

# Bounds log-ratios, so that no ratio is infinite: samplers report -9999 for a token that they cannot sample.
MAX_LOG_RATIO = 20.0


@dataclass(frozen=True)
class TokenBatch:
    """What the loss needs besides the new log-probabilities. Old ones are not finite if unknown.

    `sample_N` is the index of each token's sample, counted from 0. `mean_kl` is the mean of k over the whole sequence.
    """

    old_logprobs_N: Tensor
    advantages_N: Tensor
    weights_N: Tensor
    sample_N: Tensor
    original_logprobs_N: Tensor | None = None
    reference_logprobs_N: Tensor | None = None
    mean_kl: float = 0.0


@dataclass(frozen=True)
class TokenLosses:
    """Per token: L * weight, with gradient; and without gradient the ratio, d, and whether the ratio was clipped or
    masked."""

    losses_N: Tensor
    ratios_N: Tensor
    differences_N: Tensor
    masked_N: Tensor
    clipped_low_N: Tensor
    clipped_high_N: Tensor


def compute_losses(new_logprobs_N: Tensor, batch: TokenBatch, config: RlConfig) -> TokenLosses:
    new, old = new_logprobs_N, fill_unknown(batch.old_logprobs_N, new_logprobs_N)
    difference = new - old
    ratio = compute_ratio(difference, batch.sample_N, config.importance_sampling_level)
    if config.max_negative_advantage_importance_sampling_weight:
        # Applied to advantages of either sign, as in ART.
        ratio = ratio.clamp(max=config.max_negative_advantage_importance_sampling_weight)
    low, high = 1 - config.epsilon, 1 + config.epsilon_high
    below, above = ratio < low, ratio > high
    masked = torch.zeros_like(below)
    if config.mask_prob_ratio:
        masked = ~((ratio > low) & (ratio < high))
        ratio = torch.where(masked, 0.0, ratio)
    advantages = batch.advantages_N
    if config.kimi_k2_tau:
        advantages = advantages - config.kimi_k2_tau * difference.detach()
    if batch.reference_logprobs_N is not None:
        source = old if config.kl_penalty_source == "sample" else new
        kl = (source - batch.reference_logprobs_N).detach()
        advantages = advantages + config.kl_penalty_coef * (batch.mean_kl - kl)
    clipped = ratio.clamp(low, high)
    if uses_ppo(config):
        losses = -torch.minimum(ratio * advantages, clipped * advantages)
    else:
        losses = -clipped.detach() * advantages * new
    if config.truncated_importance_sampling and batch.original_logprobs_N is not None:
        own = (old - fill_unknown(batch.original_logprobs_N, new)).exp()
        losses = losses * own.clamp(max=config.truncated_importance_sampling)
    return TokenLosses(losses * batch.weights_N, ratio.detach(), difference.detach(), masked, below, above)


def fill_unknown(old_N: Tensor, new_N: Tensor) -> Tensor:
    """An unknown log-probability is replaced by the new one, so that its ratio is 1."""
    return torch.where(old_N.isfinite(), old_N, new_N.detach())


def compute_ratio(difference_N: Tensor, sample_N: Tensor, level: str) -> Tensor:
    """exp(d) per token, per sample (exp of the mean of d), or a mean of both. Each exponent is bounded."""
    token_N = bound(difference_N)
    if level == "token":
        return token_N.exp()
    mean_N = bound(average_samples(difference_N, sample_N))
    if level == "sequence":
        return mean_N.exp()
    if level == "average":
        return (token_N.exp() + mean_N.exp()) / 2
    return ((token_N + mean_N) / 2).exp()  # the square root of token x sequence


def bound(difference_N: Tensor) -> Tensor:
    return difference_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def average_samples(values_N: Tensor, sample_N: Tensor) -> Tensor:
    """Gives each token the mean over its sample's tokens."""
    size = int(sample_N.max()) + 1 if len(sample_N) else 0
    totals = values_N.new_zeros(size).index_add(0, sample_N, values_N)
    counts = sample_N.bincount(minlength=size)
    return (totals / counts)[sample_N]


def count_divisor(num_trained: int) -> float:
    """A sequence without a trained token has a loss of 0."""
    return float(max(1, num_trained))

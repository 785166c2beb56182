"""The policy-gradient loss on sampled tokens.

With d = log p_new - log p_old per token (0 where p_old is unknown) and r = exp(d):

    CISPO (ppo false)   L = -clip(stop(r), 1 - epsilon, 1 + epsilon_high) * A * log p_new
    PPO   (ppo true)    L = -min(r * A, clip(r, 1 - epsilon, 1 + epsilon_high) * A)

    loss = sum(L * weight) / (trained tokens of the sequence + 1e-6)

Shapes: B samples of T tokens, all [B, T]; position t holds the log-probability of token t.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from trainyard_trainer.rl.advantages import TINY
from trainyard_trainer.rl.config import RlConfig


@dataclass(frozen=True)
class TokenBatch:
    """What the loss needs besides the new log-probabilities; `old_logprobs` is NaN where unknown."""

    mask: Tensor
    old_logprobs: Tensor
    advantages: Tensor
    weights: Tensor


def sum_loss(new_logprobs: Tensor, batch: TokenBatch, config: RlConfig) -> Tensor:
    """The sum of L x weight over the trained tokens; the caller divides by `count_divisor`."""
    old = torch.where(torch.isnan(batch.old_logprobs), new_logprobs.detach(), batch.old_logprobs)
    difference = torch.where(batch.mask, new_logprobs - old, 0.0)
    ratio = compute_ratio(difference, batch.mask, config.importance_sampling_level)
    if config.max_negative_advantage_importance_sampling_weight:
        # Applied whatever the advantage's sign, as in ART.
        ratio = ratio.clamp(max=config.max_negative_advantage_importance_sampling_weight)
    low, high = 1 - config.epsilon, 1 + config.epsilon_high
    if config.mask_prob_ratio:
        ratio = torch.where((ratio > low) & (ratio < high), ratio, 0.0)
    advantages = batch.advantages
    if config.kimi_k2_tau:
        advantages = advantages - config.kimi_k2_tau * difference.detach()
    clipped = ratio.clamp(low, high)
    if config.ppo:
        loss = -torch.minimum(ratio * advantages, clipped * advantages)
    else:
        loss = -clipped.detach() * advantages * new_logprobs
    return torch.where(batch.mask, loss * batch.weights, 0.0).sum()


def compute_ratio(difference: Tensor, mask: Tensor, level: str) -> Tensor:
    """exp(d) per token, per sample (exp of the mean of d), or a mean of both; broadcast to [B, T]."""
    token = difference.exp()
    if level == "token":
        return token
    mean = difference.sum(dim=1, keepdim=True) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    sequence = mean.exp().expand_as(token)
    if level == "sequence":
        return sequence
    if level == "average":
        return (token + sequence) / 2
    return ((difference + mean) / 2).exp()  # the square root of token x sequence


def count_divisor(num_trained: int) -> float:
    return num_trained + TINY

"""The sizes of the numbers that are added up in a loss."""

from dataclasses import dataclass

import torch
from torch import Tensor

from trainyard_trainer.rl.loss import TokenBatch, compute_losses, fill_unknown
from trainyard_trainer.rl.settings import RlConfig


@dataclass(frozen=True)
class TokenSizes:
    """Per token: the sum of the absolute values of what its loss is computed from, and the same of its gradient."""

    losses_N: Tensor
    gradients_N: Tensor


def measure_sizes(new_logprobs_N: Tensor, batch: TokenBatch, config: RlConfig) -> TokenSizes:
    """Parts of an advantage may cancel out, and so may two log-probabilities. Here, none of them does."""
    new_N = new_logprobs_N.detach()
    old_N = fill_unknown(batch.old_logprobs_N, new_N)
    differences_N = new_N.abs() + old_N.abs()
    advantages_N = batch.advantages_N.abs() + (config.kimi_k2_tau or 0.0) * differences_N
    if batch.reference_logprobs_N is not None:
        kl_N = new_N.abs() + batch.reference_logprobs_N.abs()
        advantages_N = advantages_N + config.kl_penalty_coef * (kl_N.mean() + kl_N)
    ratios_N = compute_losses(new_N, batch, config).ratios_N
    factors_N = torch.maximum(ratios_N, ratios_N.clamp(1 - config.epsilon, 1 + config.epsilon_high))
    if config.truncated_importance_sampling:
        factors_N = factors_N * config.truncated_importance_sampling
    # What a difference loses is a share of its exponential.
    gradients_N = factors_N * (1 + differences_N) * advantages_N * batch.weights_N
    return TokenSizes(gradients_N if config.ppo else gradients_N * new_N.abs(), gradients_N)

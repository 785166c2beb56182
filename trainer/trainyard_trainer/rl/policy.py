"""One optimizer step of the policy on one sequence of samples."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from peft import PeftModel
from torch.optim import AdamW

from trainyard_trainer.compute.forward import build_batch, build_mask, compute_logprobs
from trainyard_trainer.compute.optimizer import RL, diverge, take_step
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import RlConfig
from trainyard_trainer.rl.loss import count_divisor, sum_loss
from trainyard_trainer.rl.packing import split_sequence


def train_sequence(
    model: PeftModel, optimizer: AdamW, sequence: list[Sample], config: RlConfig, check: Callable[[], None]
) -> dict[str, float]:
    """Adds up the gradients of the sequence's batches, steps once, and gives the step's numbers."""
    num_trained = sum(sample.tokens.num_trained for sample in sequence)
    divisor = count_divisor(num_trained)
    total_loss = total_entropy = total_weight = 0.0
    for samples in split_sequence(sequence):
        check()
        batch = build_batch(samples, model.device)
        logprobs, entropies = compute_logprobs(model, [sample.tokens.ids for sample in samples], batch.mask)
        loss = sum_loss(logprobs, batch, config) / divisor
        loss.backward()
        total_loss += loss.item()
        total_entropy += (entropies * batch.weights * batch.mask).sum().item()
        total_weight += (batch.weights * batch.mask).sum().item()
    if not math.isfinite(total_loss):
        raise diverge("loss")
    return {
        "loss": total_loss,
        "entropy": total_entropy / total_weight,
        "grad_norm": take_step(optimizer, model, RL, config.learning_rate),
        "num_trainable_tokens": num_trained,
    }


@torch.no_grad()
def precalculate_logprobs(model: PeftModel, sequence: list[Sample], check: Callable[[], None]) -> list[Sample]:
    """The sequence with the model's own log-probabilities in place of the sampled ones."""
    replaced: list[Sample] = []
    for samples in split_sequence(sequence):
        check()
        mask = build_mask([sample.tokens.trained for sample in samples], model.device)
        logprobs, _ = compute_logprobs(model, [sample.tokens.ids for sample in samples], mask)
        for sample, row in zip(samples, logprobs.tolist(), strict=True):
            own = [value if trained else math.nan for value, trained in zip(row, sample.tokens.trained, strict=False)]
            replaced.append(replace(sample, tokens=replace(sample.tokens, logprobs=own)))
    return replaced

"""One optimizer step of supervised training on one batch of rows.

loss = -sum(log p(token)) / (trained tokens of the batch), over the trained tokens of all its rows
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from peft import PeftModel
from torch.optim import AdamW

from trainyard_trainer.compute.forward import build_mask, compute_logprobs
from trainyard_trainer.compute.optimizer import SFT, diverge, take_step
from trainyard_trainer.data.dataset import Row


@dataclass(frozen=True)
class Batch:
    """Rows of one optimizer step, those that are too long left out and counted."""

    rows: list[Row]
    num_dropped: int
    learning_rate: float

    @property
    def num_trained(self) -> int:
        return sum(row.num_trained for row in self.rows)


def train_batch(model: PeftModel, optimizer: AdamW, batch: Batch, check: Callable[[], None]) -> dict[str, float]:
    """Adds up the gradients row by row, steps once, and gives the step's numbers."""
    total_loss = 0.0
    for row in batch.rows:
        check()
        if row.num_trained:
            logprobs, _ = compute_logprobs(model, [row.ids], build_mask([row.trained], model.device))
            loss = -logprobs.sum() / batch.num_trained
            loss.backward()
            total_loss += loss.item()
    if not math.isfinite(total_loss):
        raise diverge("loss")
    return {
        "loss": total_loss,
        "learning_rate": batch.learning_rate,
        # Without a gradient there is no step: the optimizer's momentum would take one.
        "grad_norm": take_step(optimizer, model, SFT, batch.learning_rate) if batch.num_trained else 0.0,
        "num_trajectories": len(batch.rows),
        "num_tokens": sum(len(row.ids) for row in batch.rows),
        "num_trainable_tokens": batch.num_trained,
        "num_dropped_trajectories": batch.num_dropped,
    }

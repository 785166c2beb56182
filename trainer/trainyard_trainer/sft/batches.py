"""Rows in batches: one optimizer step each."""

from collections.abc import Sequence

from trainyard_trainer import log
from trainyard_trainer.compute.example import Example
from trainyard_trainer.compute.step import Step
from trainyard_trainer.sft.config import SftConfig
from trainyard_trainer.sft.objective import SftObjective


def build_steps(rows: Sequence[Example], config: SftConfig, max_length: int) -> list[Step]:
    """Batches of rows in order, the last one short. Rows that are too long leave their batch, and move no other."""
    batches = [rows[start : start + config.batch_size] for start in range(0, len(rows), config.batch_size)]
    rates = config.list_rates(len(batches))
    steps = [build_step(batch, rate, max_length) for batch, rate in zip(batches, rates, strict=True)]
    if dropped := len(rows) - sum(len(step.examples) for step in steps):
        log.warn("dropped rows that are too long", dropped=dropped, limit=max_length)
    return steps


def build_step(batch: Sequence[Example], learning_rate: float, max_length: int) -> Step:
    fitting = tuple(row for row in batch if row.num_tokens <= max_length)
    num_tokens = sum(row.num_tokens for row in fitting)
    objective = SftObjective(len(fitting), num_tokens, len(batch) - len(fitting))
    # Without a trained token there is no loss, and nothing to divide.
    return Step(fitting, objective, learning_rate, max(1, sum(row.num_trained for row in fitting)))

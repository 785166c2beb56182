"""Cross-entropy as the objective of a step on one batch of rows.

loss = -sum(log p(token)) / (trained tokens of the batch), over the trained tokens of all its rows
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Measured, Numbers


@dataclass(frozen=True)
class SftObjective:
    """Knows its batch: the trained rows and their tokens, and the rows that were too long."""

    num_rows: int
    num_tokens: int
    num_dropped: int

    needs_prepass = False

    def compute_mean_kl(self, _examples: Sequence[Example], _logprobs: Sequence[np.ndarray]) -> float:
        return 0.0

    def measure(self, _examples: Sequence[Example], logprobs_N: Tensor, entropies_N: Tensor, _: float) -> Measured:
        return Measured(-logprobs_N.sum(), {"entropy": entropies_N.sum()}, {})

    def describe(self, sums: Numbers, num_trained: int) -> Numbers:
        return {
            "entropy": sums["entropy"] / num_trained,
            "num_trajectories": self.num_rows,
            "num_tokens": self.num_tokens,
            "num_dropped_trajectories": self.num_dropped,
        }

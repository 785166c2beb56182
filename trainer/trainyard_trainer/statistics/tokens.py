"""The recorded data of a history's trained tokens."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Bits of `TokenStatistics.flags`.
MASKED = 1
"""mask_prob_ratio took the token out of the loss."""
CLIPPED_LOW = 2
"""The ratio was below 1 - epsilon."""
CLIPPED_HIGH = 4
"""The ratio was above 1 + epsilon_high."""
DROPPED = 8
"""The history was too long and not trained on."""


class HistoryIndex(NamedTuple):
    """A history by its indexes in the payload; history 0 is the trajectory itself, the others are additional ones."""

    group: int
    trajectory: int
    history: int


@dataclass(frozen=True)
class TokenStatistics:
    """The N trained tokens of one history in one gradient step, in their order; each array is [N]."""

    positions: NDArray[np.int32]
    """Index of each token among all tokens of its history, prompt included."""
    ids: NDArray[np.int32]
    old_logprobs: NDArray[np.float32]
    """When they were sampled; NaN where nobody knows."""
    new_logprobs: NDArray[np.float32]
    ratios: NDArray[np.float32]
    """At the job's importance sampling level, before they were clipped; 0 where masked."""
    coefficients: NDArray[np.float32]
    """d loss / d log-probability, as it entered the gradient: with weights and divisor. Negative makes likelier."""
    entropies: NDArray[np.float32]
    """Of the distribution that the token was drawn from, in nats."""
    flags: NDArray[np.uint8]
    """MASKED, CLIPPED_LOW and CLIPPED_HIGH."""


def describe_dropped(
    positions: NDArray[np.int32], ids: NDArray[np.int32], old_logprobs: NDArray[np.float32]
) -> TokenStatistics:
    """Statistics of a history that was too long. They only have what was known before the training."""
    unknown = np.full(len(ids), np.nan, np.float32)
    flags = np.full(len(ids), DROPPED, np.uint8)
    return TokenStatistics(positions, ids, old_logprobs, unknown, unknown, unknown, unknown, flags)

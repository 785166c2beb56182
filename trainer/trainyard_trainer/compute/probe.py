"""Whether a fast path gives the plain path's numbers on a model, tried on a few random tokens when it is loaded."""

from dataclasses import replace

import numpy as np
import torch

from trainyard_trainer import log
from trainyard_trainer.compute.attention import CURRENT, UnsupportedAttention
from trainyard_trainer.compute.base import Base
from trainyard_trainer.compute.example import Example
from trainyard_trainer.compute.forward import open_forward

# Of a log-probability. float32 sums in another order differ by far less, bfloat16 by about this much on average.
LARGEST_MEAN_DIFFERENCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}
PREFIX, LENGTHS = 9, (5, 30, 17)


def probe_packing(base: Base) -> bool:
    """False, with a line in the log, where a row without padding differs, as on models with a recurrent state.

    Raises UnsupportedAttention where the model's attention is another.
    """
    examples = make_examples(base.vocabulary)
    try:
        with torch.no_grad(), open_forward(replace(base, packs=True), examples) as (packed_N, _):
            CURRENT.require_known_masks()
        with torch.no_grad(), open_forward(replace(base, packs=False), examples) as (plain_N, _):
            pass
    except UnsupportedAttention:
        raise
    except Exception as cause:  # whatever an unknown model raises on an unusual call
        log.warn("rows are padded: the model cannot be given several examples in one", error=str(cause))
        return False
    difference = (packed_N - plain_N).abs().mean().item()
    if difference > LARGEST_MEAN_DIFFERENCE[base.model.dtype]:
        log.warn("rows are padded: several examples in one give other numbers", difference=difference)
        return False
    return True


def make_examples(vocabulary: int) -> list[Example]:
    """Three with a common start and one by itself."""
    random = np.random.default_rng(0)
    start = random.integers(vocabulary, size=PREFIX)
    examples = []
    for length in LENGTHS:
        ids = np.concatenate([start, random.integers(vocabulary, size=length)])
        examples.append(Example(ids, np.arange(len(ids)) >= PREFIX, 0))
    alone = random.integers(vocabulary, size=20)
    return [*examples, Example(alone, np.arange(20) > 0, 1)]

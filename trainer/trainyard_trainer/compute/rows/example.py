"""Rows of tokens to train on, and which of them share an optimizer step."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Example:
    """One row: its token ids [T], and which of them are trained on [T]. Those of one family may share their start."""

    ids: Ids
    trained: Mask
    family: int

    @property
    def num_tokens(self) -> int:
        return len(self.ids)

    @property
    def num_trained(self) -> int:
        return int(self.trained.sum())

    @property
    def first_trained(self) -> int:
        """The index of the first trained token; the number of tokens when there is none."""
        return int(self.trained.argmax()) if self.trained.any() else self.num_tokens


def make_example(ids: Sequence[int], trained: Sequence[bool], family: int) -> Example:
    mask = np.asarray(trained, dtype=np.bool_)
    mask[:1] = False  # nothing comes before the first token, so nothing predicts it
    return Example(np.asarray(ids, dtype=np.int64), mask, family)


def measure_prefix(examples: Sequence[Example]) -> int:
    """How many tokens all of them begin with, up to the first one that any of them trains on. 0 for a single one."""
    if len(examples) < 2:
        return 0
    first = examples[0].ids
    length = min(min(example.first_trained for example in examples), *(example.num_tokens for example in examples))
    for example in examples[1:]:
        differs = first[:length] != example.ids[:length]
        length = int(differs.argmax()) if differs.any() else length
    return length


def count_tokens(examples: Sequence[Example]) -> int:
    """Tokens that are computed for examples of one family: their common start once."""
    prefix = measure_prefix(examples)
    return prefix + sum(example.num_tokens - prefix for example in examples)


def count_row(examples: Sequence[Example]) -> int:
    """Tokens of the row that the examples make; those of one family are neighbours."""
    return sum(count_tokens(list(family)) for _, family in groupby(examples, key=lambda example: example.family))

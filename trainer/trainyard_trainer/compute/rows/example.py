"""Rows of tokens to train on, and their families."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Example:
    """One row: its token ids [T], and which of them are trained [T]. Examples of one family may share a prefix."""

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
        """The index of the first trained token. Without one, the number of tokens."""
        return int(self.trained.argmax()) if self.trained.any() else self.num_tokens


def make_example(ids: Sequence[int] | Ids, trained: Sequence[bool] | Mask, family: int) -> Example:
    mask = np.asarray(trained, dtype=np.bool_)
    mask[:1] = False  # the first token has no predecessor that predicts it
    return Example(np.asarray(ids, dtype=np.int64), mask, family)


def measure_prefix(examples: Sequence[Example]) -> int:
    """The length of the tokens' shared prefix. It ends before the first token that any example trains. 0 for a single
    example."""
    if len(examples) < 2:
        return 0
    first = examples[0].ids
    length = min(min(example.first_trained for example in examples), *(example.num_tokens for example in examples))
    for example in examples[1:]:
        differs = first[:length] != example.ids[:length]
        length = int(differs.argmax()) if differs.any() else length
    return length


def count_tokens(examples: Sequence[Example]) -> int:
    """The tokens that are computed for examples of one family. Their shared prefix counts once."""
    prefix = measure_prefix(examples)
    return prefix + sum(example.num_tokens - prefix for example in examples)


def count_row(examples: Sequence[Example]) -> int:
    """The tokens of the examples' row. Examples of one family must be neighbours."""
    return sum(count_tokens(list(family)) for _, family in groupby(examples, key=lambda example: example.family))

"""One row of several examples without padding: a family's shared prefix once, then the rest of each example.

Each example's positions continue after the shared prefix. Attention sees the shared prefix and the example's own
tokens, so that the numbers are those of separate rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer.compute.rows.example import Example, measure_prefix

# The branch number of tokens that the whole family sees.
SHARED = -1


@dataclass(frozen=True)
class Block:
    """Neighbouring tokens of the row. They attend to `shared`, an earlier range, and to themselves, causally."""

    own: range
    shared: range


@dataclass(frozen=True)
class Layout:
    """T tokens in the row, N of them to be predicted, in the order of the examples.

    `predictors_N` are the positions in the row whose hidden states predict `targets_N`; `example_N` are their examples.
    `family_T` and `branch_T` say who sees whom: the same family, and the same branch or a shared one, not later.
    """

    tokens_T: Tensor
    positions_T: Tensor
    family_T: Tensor
    branch_T: Tensor
    predictors_N: Tensor
    targets_N: Tensor
    example_N: Tensor
    blocks: tuple[Block, ...]

    @property
    def num_tokens(self) -> int:
        return len(self.tokens_T)


def build_layout(examples: Sequence[Example], device: torch.device) -> Layout:
    """Examples of one family must be neighbours to share their prefix."""
    builder = RowBuilder()
    for _, members in groupby(examples, key=lambda example: example.family):
        builder.add_family(list(members))
    return builder.build(device)


class RowBuilder:
    """Builds the columns of the row, family by family."""

    def __init__(self) -> None:
        self.length = 0
        self.families = 0
        self.examples = 0
        self.columns: dict[str, list[np.ndarray]] = {
            name: [] for name in ("tokens", "positions", "family", "branch", "predictors", "targets", "example")
        }
        self.blocks: list[Block] = []

    def add_family(self, examples: list[Example]) -> None:
        prefix = measure_prefix(examples)
        shared = range(self.length, self.length + prefix)
        if prefix:
            self.add_tokens(examples[0].ids[:prefix], 0, SHARED)
            self.blocks.append(Block(shared, range(0)))
        for branch, example in enumerate(examples):
            own = range(self.length, self.length + example.num_tokens - prefix)
            self.add_tokens(example.ids[prefix:], prefix, branch)
            self.blocks.append(Block(own, shared))
            self.add_predictions(example, shared, own)
        self.families += 1

    def add_tokens(self, ids: np.ndarray, position: int, branch: int) -> None:
        self.columns["tokens"].append(ids)
        self.columns["positions"].append(np.arange(position, position + len(ids)))
        self.columns["family"].append(np.full(len(ids), self.families))
        self.columns["branch"].append(np.full(len(ids), branch))
        self.length += len(ids)

    def add_predictions(self, example: Example, shared: range, own: range) -> None:
        """A token is predicted by the previous one. For the first own token, that is the last shared token."""
        positions = np.flatnonzero(example.trained)
        before = positions - 1 - len(shared)
        last_shared = shared.stop - 1
        self.columns["predictors"].append(np.where(before < 0, last_shared, own.start + before))
        self.columns["targets"].append(example.ids[positions])
        self.columns["example"].append(np.full(len(positions), self.examples))
        self.examples += 1

    def build(self, device: torch.device) -> Layout:
        columns = [
            torch.from_numpy(np.concatenate(parts).astype(np.int64)).to(device) for parts in self.columns.values()
        ]
        return Layout(*columns, blocks=tuple(self.blocks))

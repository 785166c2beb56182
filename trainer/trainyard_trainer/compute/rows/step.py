"""Optimizer steps of jobs, and their microbatches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from trainyard_trainer.compute.rows.example import Example, measure_prefix

# Plain numbers for clients: each value goes through float().
Numbers = dict[str, float]
# One column of n trained tokens for each example.
Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Measured:
    """What an objective says of N tokens: the sum of their losses (with gradient), sums to add up over the step, and
    columns [N] that are kept of each token; empty where none are."""

    loss: Tensor
    sums: Mapping[str, Tensor]
    columns: Mapping[str, Tensor]


class Objective(Protocol):
    """What a step's examples are trained for. It is sent to other processes, so it contains only values."""

    @property
    def needs_prepass(self) -> bool:
        """Whether `compute_mean_kl` needs the log-probabilities of the whole step before `measure`."""
        ...

    def compute_mean_kl(self, examples: Sequence[Any], logprobs: Sequence[np.ndarray], /) -> float: ...

    def measure(self, examples: Sequence[Any], logprobs_N: Tensor, entropies_N: Tensor, mean_kl: float, /) -> Measured:
        """Measures the trained tokens of the examples, one after the other. The examples have the type of the
        objective's steps."""
        ...

    def describe(self, sums: Numbers, num_trained: int) -> Numbers:
        """Computes the step's numbers from the sums over all its tokens."""
        ...


@dataclass(frozen=True)
class Step:
    """One optimizer step. Its loss is the sum of its tokens' losses divided by `divisor`."""

    examples: Sequence[Example]
    objective: Objective
    learning_rate: float
    divisor: float

    @property
    def num_trained(self) -> int:
        return sum(example.num_trained for example in self.examples)


class Steps(Protocol):
    """All steps of a job in order: a list, or an object that builds each step on access."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Step]: ...

    def __getitem__(self, index: int, /) -> Step: ...


@dataclass(frozen=True)
class Microbatch:
    """Examples of one step that share a pass through the base model, with their model's adapter."""

    slot: str
    examples: Sequence[Example]
    objective: Objective
    divisor: float
    mean_kl: float


@dataclass(frozen=True)
class MicrobatchResult:
    """The loss and the sums of a microbatch, and the columns of each of its examples."""

    loss: float
    sums: Numbers
    columns: list[Columns]


@dataclass(frozen=True)
class Family:
    """Neighbours of one family while they are gathered: how many there are, their tokens, their common start's length.
    A newcomer is compared with the first of them only: what it shares with it, it shares with all, up to their start.
    """

    first: Example
    members: int
    tokens: int
    prefix: int

    @classmethod
    def of(cls, example: Example) -> "Family":
        return cls(example, 1, example.num_tokens, 0)

    def add(self, example: Example) -> "Family":
        shared = measure_prefix([self.first, example])
        prefix = shared if self.members == 1 else min(self.prefix, shared)
        return Family(self.first, self.members + 1, self.tokens + example.num_tokens, prefix)

    @property
    def num_tokens(self) -> int:
        """The computed tokens. The shared prefix counts once."""
        return self.tokens - (self.members - 1) * self.prefix


def split_packed(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """Splits examples in order into microbatches of at most `budget` tokens. A longer example has its own one."""
    microbatches: list[list[int]] = []
    filled, family = 0, None  # the tokens of the microbatch's earlier families, and its last family
    for index, example in enumerate(examples):
        if not example.num_trained:
            continue
        if family and family.first.family != example.family:
            filled, family = filled + family.num_tokens, None
        grown = family.add(example) if family else Family.of(example)
        if microbatches and filled + grown.num_tokens <= budget:
            microbatches[-1].append(index)
        else:
            microbatches.append([index])
            filled, grown = 0, Family.of(example)
        family = grown
    return microbatches


def split_padded(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """As `split_packed`, for padded batches: examples of similar length share a batch, longest first."""
    indices = [index for index, example in enumerate(examples) if example.num_trained]
    microbatches: list[list[int]] = []
    for index in sorted(indices, key=lambda index: -examples[index].num_tokens):
        longest = examples[microbatches[-1][0]].num_tokens if microbatches else 0
        if not microbatches or longest * (len(microbatches[-1]) + 1) > budget:
            microbatches.append([])
        microbatches[-1].append(index)
    return microbatches


def split_in_order(examples: Sequence[Example], budget: int) -> list[list[int]]:
    """As `split_padded`, but in the original order."""
    microbatches: list[list[int]] = []
    longest = 0
    for index, example in enumerate(examples):
        if not example.num_trained:
            continue
        longest = max(longest, example.num_tokens)
        if microbatches and longest * (len(microbatches[-1]) + 1) <= budget:
            microbatches[-1].append(index)
        else:
            microbatches.append([index])
            longest = example.num_tokens
    return microbatches

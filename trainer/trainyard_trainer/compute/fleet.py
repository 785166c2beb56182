"""A machine of several processes: each computes passes of its own through a base model whose weights they share.

The leader decides, as a machine by itself does, and orders every change of a slot, so that adapters and optimizers are
the same everywhere. Passes are computed in rounds, one by each process; who has none computes a small one that counts
nothing, because a layer is gathered from all. The gradients of a step are summed up over the processes before it is
taken: the numbers are those of one process, up to the order of sums.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from trainyard_trainer.compute.base import Base
from trainyard_trainer.compute.crew import Crew
from trainyard_trainer.compute.example import Example, make_example
from trainyard_trainer.compute.machine import Check, Machine, OnLoss, require_finite_losses
from trainyard_trainer.compute.optimizer import Parameters, Recipe
from trainyard_trainer.compute.slots import AdapterState, Shape
from trainyard_trainer.compute.step import Measured, Numbers, Part, PartResult
from trainyard_trainer.failures import JobFailure

Result = TypeVar("Result")
P = TypeVar("P")
IDLE = (make_example([0, 0], [False, True], 0),)


@dataclass(frozen=True)
class Nothing:
    """An objective that adds nothing to any gradient."""

    surveys = False

    def survey(self, examples: Sequence[Example], logprobs: Sequence[np.ndarray]) -> float:
        return 0.0

    def measure(
        self, examples: Sequence[Example], logprobs_N: Tensor, entropies_N: Tensor, surveyed: float
    ) -> Measured:
        return Measured((logprobs_N * 0).sum(), {}, {})

    def describe(self, sums: Numbers, num_trained: int) -> Numbers:
        return {}


class Member(Machine):
    """The machine of one process among several."""

    def __init__(self, base: Base, crew: Crew) -> None:
        super().__init__(base)
        self.crew = crew
        self.width = crew.size

    def take_step(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        sum_gradients(self.find(name).parameters)
        return super().take_step(name, recipe, learning_rate)

    def share_backward(self, passes: Sequence[Sequence[Part]]) -> list[list[PartResult]]:
        return self.crew.gather(self.pass_backward(passes[self.crew.rank], go_on))

    def share_forward(self, name: str | None, passes: Sequence[Sequence[Example]]) -> list[list[np.ndarray]]:
        return self.crew.gather(self.pass_forward(name, passes[self.crew.rank], go_on))

    def follow(self) -> None:
        """Does what the leader orders, until the last order. Raises DeviceLost when the processes cannot go on."""
        try:
            while (order := self.crew.receive()) is not None:
                method, arguments = order
                with suppress(JobFailure):  # the leader meets it, too
                    method(self, *arguments)
        except Exception as cause:  # of this process alone, or because of another
            raise self.crew.explain(cause) from cause
        self.crew.leave()


class Leader(Member):
    """Used as a context, whose end is that of all processes."""

    def __enter__(self) -> "Leader":
        return self

    def __exit__(self, *_: object) -> None:
        if self.crew.lost:
            os._exit(1)  # threads may wait for ever for what the others would have sent
        self.crew.order(None)
        self.crew.leave()

    def order(self, method: Callable[..., Result], *arguments: object) -> Result:
        """Done by all processes, this one too, whose result it gives."""
        try:
            self.crew.order((method, arguments))
            return method(self, *arguments)
        except JobFailure:  # all meet it alike
            raise
        except Exception as cause:
            raise self.crew.explain(cause) from cause

    def on_loss(self, tell: OnLoss) -> None:
        self.crew.on_loss = tell

    def open(self, shape: Shape, state: AdapterState | None) -> str:
        return self.order(Member.open, shape, state)

    def refill(self, name: str, state: AdapterState | None) -> None:
        self.order(Member.refill, name, state)

    def close(self, name: str) -> None:
        self.order(Member.close, name)

    def clear(self, name: str) -> None:
        self.order(Member.clear, name)

    def take_step(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        return self.order(Member.take_step, name, recipe, learning_rate)

    def backward(self, passes: Sequence[Sequence[Part]], check: Check) -> list[list[PartResult]]:
        idle = [Part(passes[0][0].slot, IDLE, Nothing(), 1.0, 0.0)]
        results = [
            found
            for start, some in self.fill_rounds(passes, idle, check)
            for found in self.order(Member.share_backward, some)[: len(passes) - start]
        ]
        require_finite_losses(results)
        return results

    def score(self, name: str | None, passes: Sequence[Sequence[Example]], check: Check) -> list[np.ndarray]:
        return [
            logprobs
            for start, some in self.fill_rounds(passes, IDLE, check)
            for found in self.order(Member.share_forward, name, some)[: len(passes) - start]
            for logprobs in found
        ]

    def fill_rounds(self, passes: Sequence[P], idle: P, check: Check) -> Iterator[tuple[int, list[P]]]:
        """Where each round starts, and a pass for each process. Checked only between: who left one would halt all."""
        for start in range(0, len(passes), self.width):
            check()
            some = list(passes[start : start + self.width])
            yield start, some + [idle] * (self.width - len(some))


def go_on() -> None:
    """Within a round nobody leaves."""


@torch.no_grad()
def sum_gradients(parameters: Parameters) -> None:
    """Over all processes, in one message; a process that had no pass of a slot adds nothing."""
    sizes = [parameter.numel() for parameter in parameters.values()]
    gradients = [
        torch.zeros_like(parameter) if parameter.grad is None else parameter.grad for parameter in parameters.values()
    ]
    sum_P = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(sum_P)
    for parameter, gradient in zip(parameters.values(), sum_P.split(sizes), strict=True):
        parameter.grad = gradient.view_as(parameter)

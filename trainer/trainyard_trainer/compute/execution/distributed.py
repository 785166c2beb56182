"""An executor of several processes. Each computes its own passes through a base model with sharded weights.

Rank 0 coordinates. It broadcasts every change of a slot, so that adapters and optimizers are equal in all processes.
Passes are computed in rounds with one pass for each process. A process without a pass computes a small one that adds
nothing, because each layer is gathered from all processes. One all_reduce sums the gradients before the optimizer step.
The result equals that of one process, except for the order of sums.
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

from trainyard_trainer.compute.execution.executor import Check, Executor, OnFailure, require_finite_losses
from trainyard_trainer.compute.execution.process_group import TrainerProcessGroup
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.optimizer import Parameters, Recipe
from trainyard_trainer.compute.model.slots import AdapterState, Shape
from trainyard_trainer.compute.rows.example import Example, make_example
from trainyard_trainer.compute.rows.step import Measured, Microbatch, MicrobatchResult, Numbers
from trainyard_trainer.failures import JobFailure

Result = TypeVar("Result")
P = TypeVar("P")
IDLE_EXAMPLES = (make_example([0, 0], [False, True], 0),)


@dataclass(frozen=True)
class NoOpObjective:
    """An objective that adds nothing to any gradient."""

    needs_prepass = False

    def compute_mean_kl(self, examples: Sequence[Example], logprobs: Sequence[np.ndarray]) -> float:
        return 0.0

    def measure(self, examples: Sequence[Example], logprobs_N: Tensor, entropies_N: Tensor, mean_kl: float) -> Measured:
        return Measured((logprobs_N * 0).sum(), {}, {})

    def describe(self, sums: Numbers, num_trained: int) -> Numbers:
        return {}


class DistributedExecutor(Executor):
    """The executor of one process among several."""

    def __init__(self, base: Base, group: TrainerProcessGroup) -> None:
        super().__init__(base)
        self.group = group
        self.world_size = group.world_size

    def step_optimizer(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        all_reduce_gradients(self.find(name).parameters)
        return super().step_optimizer(name, recipe, learning_rate)

    def backward_on_rank(self, passes: Sequence[Sequence[Microbatch]]) -> list[list[MicrobatchResult]]:
        return self.group.gather(self.pass_backward(passes[self.group.rank], never_cancel))

    def forward_on_rank(self, name: str | None, passes: Sequence[Sequence[Example]]) -> list[list[np.ndarray]]:
        return self.group.gather(self.pass_forward(name, passes[self.group.rank], never_cancel))

    def run_commands(self) -> None:
        """Executes the coordinator's commands until the last one. Raises DeviceLost when they cannot continue."""
        try:
            while (command := self.group.receive()) is not None:
                method, arguments = command
                with suppress(JobFailure):  # the coordinator raises it too
                    method(self, *arguments)
        except Exception as cause:  # from this process, or caused by another one
            raise self.group.explain(cause) from cause
        self.group.destroy()


class Coordinator(DistributedExecutor):
    """Rank 0. Use it as a context. At its end, all processes end."""

    def __enter__(self) -> "Coordinator":
        return self

    def __exit__(self, *_: object) -> None:
        if self.group.failed:
            os._exit(1)  # threads may wait forever for messages of the other processes
        self.group.broadcast(None)
        self.group.destroy()

    def run_everywhere(self, method: Callable[..., Result], *arguments: object) -> Result:
        """Calls the method in all processes, including this one. Returns this process's result."""
        try:
            self.group.broadcast((method, arguments))
            return method(self, *arguments)
        except JobFailure:  # all processes raise it alike
            raise
        except Exception as cause:
            raise self.group.explain(cause) from cause

    def on_failure(self, callback: OnFailure) -> None:
        self.group.on_failure = callback

    def open(self, shape: Shape, state: AdapterState | None) -> str:
        return self.run_everywhere(DistributedExecutor.open, shape, state)

    def refill(self, name: str, state: AdapterState | None) -> None:
        self.run_everywhere(DistributedExecutor.refill, name, state)

    def close(self, name: str) -> None:
        self.run_everywhere(DistributedExecutor.close, name)

    def clear(self, name: str) -> None:
        self.run_everywhere(DistributedExecutor.clear, name)

    def step_optimizer(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        return self.run_everywhere(DistributedExecutor.step_optimizer, name, recipe, learning_rate)

    def backward(self, passes: Sequence[Sequence[Microbatch]], check: Check) -> list[list[MicrobatchResult]]:
        idle = [Microbatch(passes[0][0].slot, IDLE_EXAMPLES, NoOpObjective(), 1.0, 0.0)]
        results = [
            found
            for start, some in self.pad_rounds(passes, idle, check)
            for found in self.run_everywhere(DistributedExecutor.backward_on_rank, some)[: len(passes) - start]
        ]
        require_finite_losses(results)
        return results

    def score(self, name: str | None, passes: Sequence[Sequence[Example]], check: Check) -> list[np.ndarray]:
        return [
            logprobs
            for start, some in self.pad_rounds(passes, IDLE_EXAMPLES, check)
            for found in self.run_everywhere(DistributedExecutor.forward_on_rank, name, some)[: len(passes) - start]
            for logprobs in found
        ]

    def pad_rounds(self, passes: Sequence[P], idle: P, check: Check) -> Iterator[tuple[int, list[P]]]:
        """Yields the start of each round, and a pass for each process. A job may only end between rounds: inside of
        one, the other processes would wait forever."""
        for start in range(0, len(passes), self.world_size):
            check()
            some = list(passes[start : start + self.world_size])
            yield start, some + [idle] * (self.world_size - len(some))


def never_cancel() -> None:
    """The check within a round, which never ends a job."""


@torch.no_grad()
def all_reduce_gradients(parameters: Parameters) -> None:
    """Sums the gradients of all processes with one message. A process without a pass of the slot adds zeros."""
    sizes = [parameter.numel() for parameter in parameters.values()]
    gradients = [
        torch.zeros_like(parameter) if parameter.grad is None else parameter.grad for parameter in parameters.values()
    ]
    sum_P = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(sum_P)
    for parameter, gradient in zip(parameters.values(), sum_P.split(sizes), strict=True):
        parameter.grad = gradient.view_as(parameter)

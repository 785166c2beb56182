"""Forward and backward passes, optimizer steps and slots on one device. Only one thread may call an executor."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer.compute.model import routing
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.forward import open_forward
from trainyard_trainer.compute.model.optimizer import Recipe, diverge, step_optimizer
from trainyard_trainer.compute.model.routing import Route
from trainyard_trainer.compute.model.sharding import get_head
from trainyard_trainer.compute.model.slots import AdapterState, Shape, Slot, Slots
from trainyard_trainer.compute.rows.example import Example, count_row
from trainyard_trainer.compute.rows.step import Columns, Measured, Microbatch, MicrobatchResult
from trainyard_trainer.failures import JobFailure

Check = Callable[[], None]
OnFailure = Callable[[JobFailure], None]


class Executor:
    """Slots have names. The executor computes up to `world_size` passes at once."""

    world_size = 1

    def __init__(self, base: Base) -> None:
        self.base = base
        self.slots = Slots(base)

    def on_failure(self, callback: OnFailure) -> None:
        """Calls `callback`, from any thread, when the executor can compute no more. A single process never calls it."""

    @property
    def linger_seconds(self) -> float | None:
        """How long to wait for more work before a rest. None if a rest changes nothing."""
        return None

    def enter(self) -> None:
        """Call it before a slice that computes. Returns when the device is free for it."""

    def rest(self, *, is_idle: bool) -> None:
        """Call it after each slice. If others share the device, it may go to them."""

    def open(self, shape: Shape, state: AdapterState | None) -> str:
        """Returns the name of a slot with this adapter. None means an untrained adapter."""
        slot = self.slots.acquire(shape)
        try:
            slot.fill(state)
        except BaseException:
            self.slots.release(slot)
            raise
        return slot.name

    def refill(self, name: str, state: AdapterState | None) -> None:
        self.find(name).fill(state)

    def close(self, name: str) -> None:
        self.slots.release(self.find(name))

    def read(self, name: str) -> AdapterState:
        return self.find(name).read()

    def clear(self, name: str) -> None:
        """Clears the gradients since the last step."""
        self.find(name).clear_gradients()

    def step_optimizer(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        slot = self.find(name)
        return step_optimizer(slot.optimizer, slot.parameters, recipe, learning_rate)

    def backward(self, passes: Sequence[Sequence[Microbatch]], check: Check) -> list[list[MicrobatchResult]]:
        """Runs one pass through the base model for each list of microbatches. Adds to the gradients of their slots."""
        results = [self.pass_backward(microbatches, check) for microbatches in passes]
        require_finite_losses(results)
        return results

    def score(self, name: str | None, passes: Sequence[Sequence[Example]], check: Check) -> list[np.ndarray]:
        """The log-probabilities of each example's trained tokens under an adapter. None means the base model."""
        return [logprobs for examples in passes for logprobs in self.pass_forward(name, examples, check)]

    def pass_backward(self, microbatches: Sequence[Microbatch], check: Check) -> list[MicrobatchResult]:
        examples = separate_families([microbatch.examples for microbatch in microbatches])
        with (
            routing.CURRENT.use(self.route(microbatches), check),
            open_forward(self.base, [example for group in examples for example in group]) as scores,
        ):
            logprobs, entropies = (scores_N.split(count_trained(microbatches)) for scores_N in scores)
            measured = [
                measure(microbatch, logprobs_N, entropies_N)
                for microbatch, logprobs_N, entropies_N in zip(microbatches, logprobs, entropies, strict=True)
            ]
            losses = torch.stack(
                [each.loss / microbatch.divisor for microbatch, each in zip(microbatches, measured, strict=True)]
            )
            losses.sum().backward()
        return [
            present(microbatch, loss, each, logprobs_N)
            for microbatch, loss, each, logprobs_N in zip(
                microbatches, losses.tolist(), measured, logprobs, strict=True
            )
        ]

    @torch.no_grad()
    def pass_forward(self, name: str | None, examples: Sequence[Example], check: Check) -> list[np.ndarray]:
        routes = (Route(name, 0),)
        with routing.CURRENT.use(routes, check), open_forward(self.base, examples) as (logprobs_N, _):
            columns_n = logprobs_N.cpu().split([example.num_trained for example in examples])
        return [column_n.numpy() for column_n in columns_n]

    def adapts_head(self, name: str) -> bool:
        return name in getattr(get_head(self.base.model), "lora_A", ())

    def route(self, microbatches: Sequence[Microbatch]) -> tuple[Route, ...]:
        if len(microbatches) == 1:
            return (Route(microbatches[0].slot, 0),)
        return tuple(Route(microbatch.slot, count_row(microbatch.examples)) for microbatch in microbatches)

    def find(self, name: str) -> Slot:
        return next(slot for slot in self.slots.all if slot.name == name)


def separate_families(groups: list[Sequence[Example]]) -> list[list[Example]]:
    """Gives families of different microbatches different numbers."""
    if len(groups) == 1:
        return [list(groups[0])]
    return [
        [Example(example.ids, example.trained, (index << 32) + example.family) for example in group]
        for index, group in enumerate(groups)
    ]


def count_trained(microbatches: Sequence[Microbatch]) -> list[int]:
    return [sum(example.num_trained for example in microbatch.examples) for microbatch in microbatches]


def measure(microbatch: Microbatch, logprobs_N: Tensor, entropies_N: Tensor) -> Measured:
    logprobs_N.retain_grad()  # the gradient of each token
    return microbatch.objective.measure(microbatch.examples, logprobs_N, entropies_N, microbatch.mean_kl)


def require_finite_losses(results: list[list[MicrobatchResult]]) -> None:
    """Several runs may share the pass. The scheduler then clears the gradients, and repeats each run's step alone."""
    if not all(math.isfinite(result.loss) for microbatches in results for result in microbatches):
        raise diverge("loss")


def present(microbatch: Microbatch, loss: float, measured: Measured, logprobs_N: Tensor) -> MicrobatchResult:
    values = torch.stack(list(measured.sums.values())).tolist() if measured.sums else []
    return MicrobatchResult(
        loss,
        dict(zip(measured.sums, values, strict=True)),
        split_columns(microbatch, measured.columns, logprobs_N.grad),
    )


def split_columns(microbatch: Microbatch, columns: Mapping[str, Tensor], coefficient_N: Tensor | None) -> list[Columns]:
    """Splits the columns by example. Empty if the objective keeps none."""
    if not columns or coefficient_N is None:
        return []
    ends = np.cumsum([example.num_trained for example in microbatch.examples])[:-1]
    arrays = {name: column.detach().cpu().numpy() for name, column in columns.items()}
    arrays["coefficient"] = coefficient_N.cpu().numpy()
    split = {name: np.split(array, ends) for name, array in arrays.items()}
    return [{name: pieces[index] for name, pieces in split.items()} for index in range(len(microbatch.examples))]

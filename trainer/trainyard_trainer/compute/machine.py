"""What a process does on its device: slots, passes through the base, optimizer steps. One thread calls it."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer.compute import routing
from trainyard_trainer.compute.base import Base
from trainyard_trainer.compute.example import Example, count_row
from trainyard_trainer.compute.forward import open_forward
from trainyard_trainer.compute.optimizer import Recipe, diverge, take_step
from trainyard_trainer.compute.routing import Route
from trainyard_trainer.compute.sharding import get_head
from trainyard_trainer.compute.slots import AdapterState, Shape, Slot, Slots
from trainyard_trainer.compute.step import Columns, Measured, Part, PartResult
from trainyard_trainer.failures import JobFailure

Check = Callable[[], None]
OnLoss = Callable[[JobFailure], None]


class Machine:
    """Slots are known by their names. It computes up to `width` passes at once."""

    width = 1

    def __init__(self, base: Base) -> None:
        self.base = base
        self.slots = Slots(base)

    def on_loss(self, tell: OnLoss) -> None:
        """`tell` is called, from any thread, when the machine can compute no more; one of one process always can."""

    def open(self, shape: Shape, state: AdapterState | None) -> str:
        """The name of a slot that holds an adapter, None an untrained one."""
        slot = self.slots.take(shape)
        try:
            slot.fill(state)
        except BaseException:
            self.slots.give_back(slot)
            raise
        return slot.name

    def refill(self, name: str, state: AdapterState | None) -> None:
        self.find(name).fill(state)

    def close(self, name: str) -> None:
        self.slots.give_back(self.find(name))

    def read(self, name: str) -> AdapterState:
        return self.find(name).read()

    def clear(self, name: str) -> None:
        """Takes back what was added to the gradients since the last step."""
        self.find(name).clear_gradients()

    def take_step(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        slot = self.find(name)
        return take_step(slot.optimizer, slot.parameters, recipe, learning_rate)

    def backward(self, passes: Sequence[Sequence[Part]], check: Check) -> list[list[PartResult]]:
        """A pass through the base for each list of parts; adds to the gradients of their slots."""
        results = [self.pass_backward(parts, check) for parts in passes]
        require_finite_losses(results)
        return results

    def score(self, name: str | None, passes: Sequence[Sequence[Example]], check: Check) -> list[np.ndarray]:
        """The log-probabilities of each example's trained tokens under an adapter; under the base itself for None."""
        return [logprobs for examples in passes for logprobs in self.pass_forward(name, examples, check)]

    def pass_backward(self, parts: Sequence[Part], check: Check) -> list[PartResult]:
        examples = separate_families([part.examples for part in parts])
        with (
            routing.CURRENT.use(self.route(parts), check),
            open_forward(self.base, [example for group in examples for example in group]) as scores,
        ):
            logprobs, entropies = (scores_N.split(count_trained(parts)) for scores_N in scores)
            measured = [
                measure(part, logprobs_N, entropies_N)
                for part, logprobs_N, entropies_N in zip(parts, logprobs, entropies, strict=True)
            ]
            losses = torch.stack([each.loss / part.divisor for part, each in zip(parts, measured, strict=True)])
            losses.sum().backward()
        return [
            present(part, loss, each, logprobs_N)
            for part, loss, each, logprobs_N in zip(parts, losses.tolist(), measured, logprobs, strict=True)
        ]

    @torch.no_grad()
    def pass_forward(self, name: str | None, examples: Sequence[Example], check: Check) -> list[np.ndarray]:
        routes = (Route(name, 0),)
        with routing.CURRENT.use(routes, check), open_forward(self.base, examples) as (logprobs_N, _):
            parts_n = logprobs_N.cpu().split([example.num_trained for example in examples])
        return [part_n.numpy() for part_n in parts_n]

    def adapts_head(self, name: str) -> bool:
        return name in getattr(get_head(self.base.model), "lora_A", ())

    def route(self, parts: Sequence[Part]) -> tuple[Route, ...]:
        if len(parts) == 1:
            return (Route(parts[0].slot, 0),)
        return tuple(Route(part.slot, count_row(part.examples)) for part in parts)

    def find(self, name: str) -> Slot:
        return next(slot for slot in self.slots.all if slot.name == name)


def separate_families(groups: list[Sequence[Example]]) -> list[list[Example]]:
    """Families of different parts are different ones, whatever their numbers."""
    if len(groups) == 1:
        return [list(groups[0])]
    return [
        [Example(example.ids, example.trained, (place << 32) + example.family) for example in group]
        for place, group in enumerate(groups)
    ]


def count_trained(parts: Sequence[Part]) -> list[int]:
    return [sum(example.num_trained for example in part.examples) for part in parts]


def measure(part: Part, logprobs_N: Tensor, entropies_N: Tensor) -> Measured:
    logprobs_N.retain_grad()  # what each token pushes
    return part.objective.measure(part.examples, logprobs_N, entropies_N, part.surveyed)


def require_finite_losses(results: list[list[PartResult]]) -> None:
    """Of several parts the fault may be another's: gradients are taken back, and each job is tried alone then."""
    if not all(math.isfinite(result.loss) for parts in results for result in parts):
        raise diverge("loss")


def present(part: Part, loss: float, measured: Measured, logprobs_N: Tensor) -> PartResult:
    values = torch.stack(list(measured.sums.values())).tolist() if measured.sums else []
    return PartResult(
        loss, dict(zip(measured.sums, values, strict=True)), split_columns(part, measured.columns, logprobs_N.grad)
    )


def split_columns(part: Part, columns: Mapping[str, Tensor], coefficient_N: Tensor | None) -> list[Columns]:
    """Per example; none where the objective keeps none."""
    if not columns or coefficient_N is None:
        return []
    ends = np.cumsum([example.num_trained for example in part.examples])[:-1]
    arrays = {name: column.detach().cpu().numpy() for name, column in columns.items()}
    arrays["coefficient"] = coefficient_N.cpu().numpy()
    split = {name: np.split(array, ends) for name, array in arrays.items()}
    return [{name: parts[place] for name, parts in split.items()} for place in range(len(part.examples))]

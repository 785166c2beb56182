"""An executor whose device belongs to an engine between its turns."""

from collections.abc import Sequence

import numpy as np

from trainyard_trainer.compute.execution.device_turns import DeviceTurns
from trainyard_trainer.compute.execution.executor import Check, Executor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.offload import Offload
from trainyard_trainer.compute.model.optimizer import Recipe
from trainyard_trainer.compute.model.slots import AdapterState, Shape
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Microbatch, MicrobatchResult

# Work often follows at once, and each change of turns takes time.
LINGER_SECONDS = 0.5


class SharedExecutor(Executor):
    """Acquires the device before it computes. Adapters can be read without it, so that a trainer that ends can save.

    The base model must be loaded in a turn.
    """

    def __init__(self, base: Base, turns: DeviceTurns) -> None:
        super().__init__(base)
        self.turns = turns
        self.offload = Offload(self.slots)

    @property
    def linger_seconds(self) -> float | None:
        return LINGER_SECONDS if self.turns.is_held else None

    def rest(self, *, is_idle: bool) -> None:
        if self.turns.is_held and (is_idle or self.turns.is_yield_due()):
            self.offload.leave()
            self.turns.release()

    def enter(self) -> None:
        if not self.turns.is_held:
            self.turns.acquire()
        self.offload.enter()

    def open(self, shape: Shape, state: AdapterState | None) -> str:
        self.enter()
        return super().open(shape, state)

    def refill(self, name: str, state: AdapterState | None) -> None:
        self.enter()
        super().refill(name, state)

    def step_optimizer(self, name: str, recipe: Recipe, learning_rate: float) -> float:
        self.enter()
        return super().step_optimizer(name, recipe, learning_rate)

    def backward(self, passes: Sequence[Sequence[Microbatch]], check: Check) -> list[list[MicrobatchResult]]:
        self.enter()
        return super().backward(passes, check)

    def score(self, name: str | None, passes: Sequence[Sequence[Example]], check: Check) -> list[np.ndarray]:
        self.enter()
        return super().score(name, passes, check)

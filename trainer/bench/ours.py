"""The trainer's own side of the comparisons: steps that are submitted to the device thread like a job's."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from bench.contestant import Round, time_round
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.model.optimizer import Recipe
from trainyard_trainer.compute.model.slots import AdapterState, Shape
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import StepReport, TrainingRun
from trainyard_trainer.config import read_lora

MODEL = Path(__file__).parents[1] / "models" / "tiny-chat"
LORA = read_lora({})
TARGETS = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")
SHAPE = Shape(LORA.rank, LORA.alpha, TARGETS)


class Trainer:
    """A thread that computes until the process ends."""

    def __init__(self, recipe: Recipe, policy: Policy, *, packs: bool = True) -> None:
        base = load_base("trainyard/tiny-chat", Source(str(MODEL)))
        assert base.packs
        self.recipe = recipe
        self.executor = Executor(replace(base, packs=packs))
        self.scheduler = Scheduler(self.executor, policy)
        self.scheduler.__enter__()

    def train(self, states: Sequence[AdapterState], jobs: Sequence[Sequence[Step]], *, together: bool = True) -> Round:
        """Returns the time from the submission of the steps until the adapters were read. Slots were filled before."""

        def run() -> list[float]:
            if together:
                runs = [self.submit(slot, steps) for slot, steps in zip(slots, jobs, strict=True)]
                return [loss for training_run in runs for loss in read_losses(training_run)]
            pairs = zip(slots, jobs, strict=True)
            return [loss for slot, steps in pairs for loss in read_losses(self.submit(slot, steps))]

        tokens = sum(example.num_tokens for steps in jobs for step in steps for example in step.examples)
        with ExitStack() as opened:
            slots = [opened.enter_context(self.open(state)) for state in states]
            return time_round(tokens, run)

    @contextmanager
    def open(self, state: AdapterState) -> Iterator[str]:
        slot = self.scheduler.call(lambda: self.executor.open(SHAPE, state))
        try:
            yield slot
        finally:
            self.scheduler.call(lambda: self.executor.close(slot))

    def submit(self, slot: str, steps: Sequence[Step]) -> TrainingRun:
        training_run = TrainingRun(slot, self.recipe, steps, "entity", lambda: None, float("inf"))
        self.scheduler.submit(training_run)
        return training_run


def read_losses(training_run: TrainingRun) -> list[float]:
    return [report.numbers["loss"] for report in training_run.read_reports() if isinstance(report, StepReport)]


def make_states(executor: Executor, count: int) -> list[AdapterState]:
    """Adapters with random weights, because untrained ones add nothing. Call it in the device thread, or before the
    thread starts."""
    name = executor.open(SHAPE, None)
    weights = executor.read(name).weights
    executor.close(name)
    random = torch.Generator().manual_seed(0)

    def shake(key: str, weight: torch.Tensor) -> torch.Tensor:
        return torch.randn(weight.shape, generator=random) * 0.02 if "lora_B" in key else weight

    return [AdapterState({key: shake(key, weight) for key, weight in weights.items()}, {}) for _ in range(count)]

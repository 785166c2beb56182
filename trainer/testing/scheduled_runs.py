"""Training runs on a small model with predictable slices, and an executor that records its passes. A pytest plugin."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.tiny_models import LLAMA_TARGETS, make_base, make_families, open_random
from trainyard_trainer.compute.execution.executor import Check, Executor
from trainyard_trainer.compute.model.optimizer import Recipe
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.example import count_row
from trainyard_trainer.compute.rows.step import Microbatch, MicrobatchResult, Step
from trainyard_trainer.compute.scheduling import scheduler as scheduler_module
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import StateReport, StepReport, TrainingRun
from trainyard_trainer.config import OFF
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.sft.objective import SftObjective
from trainyard_trainer.sft.recipe import SFT

BUDGET = 400
SMALL, LARGE = Shape(2, 4, ("q_proj", "v_proj")), Shape(8, 32, LLAMA_TARGETS)


@dataclass
class Clock:
    """A clock that advances with computed tokens, so that slices are predictable."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@dataclass
class Watched(Executor):
    """Records its passes: for each a list of slots and numbers of tokens."""

    clock: Clock
    passes: list[list[tuple[str, int]]] = field(default_factory=list)
    before_pass: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__init__(make_base())

    def backward(self, passes: Sequence[Sequence[Microbatch]], check: Check) -> list[list[MicrobatchResult]]:
        self.before_pass()
        for microbatches in passes:
            self.passes.append([(microbatch.slot, count_row(microbatch.examples)) for microbatch in microbatches])
            self.clock.now += sum(tokens for _, tokens in self.passes[-1])
        return super().backward(passes, check)


@pytest.fixture(scope="module")
def shared() -> Watched:
    return Watched(Clock())


@pytest.fixture
def executor(shared, monkeypatch) -> Watched:
    monkeypatch.setattr(scheduler_module, "time", shared.clock)
    shared.passes.clear()
    monkeypatch.setattr(shared, "before_pass", lambda: None)
    yield shared
    for slot in shared.slots.all:
        if not slot.free:
            shared.close(slot.name)


def make_steps(seed: int, count: int, families: int = 2, **changes: object) -> list[Step]:
    steps = []
    for number in range(count):
        examples = make_families(seed * 1000 + number, families)
        divisor = sum(example.num_trained for example in examples)
        steps.append(replace(Step(examples, SftObjective(len(examples), 0, 0), 1e-3, divisor), **changes))
    return steps


def make_rl_steps(seed: int, count: int, **config: object) -> list[Step]:
    random = np.random.default_rng(seed)
    has_reference = "kl_penalty_coef" in config
    steps = []
    for number in range(count):
        samples = [
            Sample(
                example.ids,
                example.trained,
                example.family,
                trajectory=0,
                history=0,
                advantage=random.normal(),
                weight=1.0,
                old_logprobs=np.full(example.num_trained, -4.6, np.float32),
                reference_logprobs=np.full(example.num_trained, -4.6, np.float32) if has_reference else None,
            )
            for example in make_families(seed * 1000 + number, 2)
        ]
        steps.append(build_step(samples, parse_config(config | {"learning_rate": 1e-3})))
    return steps


def make_run(
    executor: Executor, steps: list[Step], shape: Shape = SMALL, recipe: Recipe = SFT, **changes: object
) -> TrainingRun:
    run = TrainingRun(open_random(executor, shape), recipe, steps, "acme", lambda: None, save_seconds=1e9)
    for name, value in changes.items():
        setattr(run, name, value)
    return run


def finish(run: TrainingRun) -> tuple[list[StepReport], StateReport]:
    *steps, saved = run.read_reports()
    return steps, saved


def run_all(
    executor: Executor, runs: Sequence[TrainingRun], co_batch: str = OFF, budget: int = BUDGET
) -> list[list[StepReport] | BaseException]:
    """Submits all runs at once, each with a reader. Returns the reports of each run, or the exception that ended it."""
    found: dict[TrainingRun, list[StepReport] | BaseException] = {}

    def read(run: TrainingRun) -> None:
        try:
            found[run] = finish(run)[0]
        except Exception as cause:
            found[run] = cause

    scheduler = Scheduler(executor, Policy(budget, co_batch))
    readers = [threading.Thread(target=read, args=(run,)) for run in runs]
    for run, reader in zip(runs, readers, strict=True):
        scheduler.submit(run)
        reader.start()
    with scheduler:
        for reader in readers:
            reader.join(MAX_WAIT_SECONDS)
    return [found[run] for run in runs]


def list_losses(reports: list[StepReport] | BaseException) -> list[float]:
    assert isinstance(reports, list), reports
    return [report.numbers["loss"] for report in reports]

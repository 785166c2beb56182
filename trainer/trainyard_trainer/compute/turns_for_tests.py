"""Works on a small model whose turns can be foreseen, and the machine that tells of them. A plugin of pytest."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from trainyard_trainer.compute import turns as turns_module
from trainyard_trainer.compute.example import count_row
from trainyard_trainer.compute.machine import Check, Machine
from trainyard_trainer.compute.models_for_tests import LLAMA_TARGETS, make_base, make_families, open_random
from trainyard_trainer.compute.optimizer import SFT, Recipe
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.slots import Shape
from trainyard_trainer.compute.step import Part, PartResult, Step
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.compute.work import Saved, StepTaken, Work
from trainyard_trainer.config import OFF
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.sft.objective import SftObjective

BUDGET = 400
SMALL, LARGE = Shape(2, 4, ("q_proj", "v_proj")), Shape(8, 32, LLAMA_TARGETS)


@dataclass
class Clock:
    """Time goes on as tokens are computed, so that turns can be foreseen."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@dataclass
class Watched(Machine):
    """Tells of its passes: a list for each, of the slot and the tokens of each part."""

    clock: Clock
    passes: list[list[tuple[str, int]]] = field(default_factory=list)
    before_pass: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__init__(make_base())

    def backward(self, passes: Sequence[Sequence[Part]], check: Check) -> list[list[PartResult]]:
        self.before_pass()
        for parts in passes:
            self.passes.append([(part.slot, count_row(part.examples)) for part in parts])
            self.clock.now += sum(tokens for _, tokens in self.passes[-1])
        return super().backward(passes, check)


@pytest.fixture(scope="module")
def shared() -> Watched:
    return Watched(Clock())


@pytest.fixture
def machine(shared, monkeypatch) -> Watched:
    monkeypatch.setattr(turns_module, "time", shared.clock)
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


def make_work(
    machine: Machine, steps: list[Step], shape: Shape = SMALL, recipe: Recipe = SFT, **changes: object
) -> Work:
    work = Work(open_random(machine, shape), recipe, steps, "acme", lambda: None, save_seconds=1e9)
    for name, value in changes.items():
        setattr(work, name, value)
    return work


def finish(work: Work) -> tuple[list[StepTaken], Saved]:
    *steps, saved = work.read_reports()
    return steps, saved


def run(
    machine: Machine, works: Sequence[Work], co_batch: str = OFF, budget: int = BUDGET
) -> list[list[StepTaken] | BaseException]:
    """What each work told, or what ended it; all were there from the beginning, and each has a reader."""
    found: dict[Work, list[StepTaken] | BaseException] = {}

    def read(work: Work) -> None:
        try:
            found[work] = finish(work)[0]
        except Exception as cause:
            found[work] = cause

    turns = Turns(machine, Policy(budget, co_batch))
    readers = [threading.Thread(target=read, args=(work,)) for work in works]
    for work, reader in zip(works, readers, strict=True):
        turns.submit(work)
        reader.start()
    with turns:
        for reader in readers:
            reader.join(timeout=60)
    return [found[work] for work in works]


def list_losses(told: list[StepTaken] | BaseException) -> list[float]:
    assert isinstance(told, list), told
    return [taken.numbers["loss"] for taken in told]

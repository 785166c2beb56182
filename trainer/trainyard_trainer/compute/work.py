"""One job's training on the device: its steps, how far they are, and what it has to tell."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue

from trainyard_trainer.compute.optimizer import Recipe
from trainyard_trainer.compute.slots import AdapterState
from trainyard_trainer.compute.step import Columns, Numbers, Part, PartResult, Step, Steps

# Steps that may be taken before their reports are sent: a status server that is away for long halts the training.
LARGEST_LEAD = 16


@dataclass(frozen=True)
class StepTaken:
    """The step of this number (the first is 1), what it was like, and per example the columns of its tokens."""

    number: int
    numbers: Numbers
    columns: list[Columns]
    seconds: float


@dataclass(frozen=True)
class Saved:
    """The adapter after so many steps; `last` tells that no more are taken now."""

    steps_taken: int
    state: AdapterState
    last: bool


@dataclass(eq=False)
class Work:
    """`check` raises where the job was taken away; `is_leaving` tells that no further step is to be begun; `position`
    counts the steps that are done. The step that is begun is computed without others where it is `alone`; it was in a
    pass with others where it is `joined`."""

    slot: str
    recipe: Recipe
    steps: Steps
    entity: str
    check: Callable[[], None]
    save_seconds: float
    is_leaving: Callable[[], bool] = lambda: False
    position: int = 0
    used_seconds: float = 0.0
    budget: int = 0
    alone: bool = False
    joined: bool = False
    parts: deque[list[int]] = field(default_factory=deque)
    done: list[tuple[list[int], PartResult]] = field(default_factory=list)
    step_seconds: float = 0.0
    surveyed: float = 0.0
    begun: bool = False
    saved_at: float = field(default_factory=time.monotonic)
    reports: SimpleQueue = field(default_factory=SimpleQueue)
    context: Context = field(default_factory=copy_context)  # of the job's thread: whose log it is
    on_read: Callable[[], None] = lambda: None

    @property
    def step(self) -> Step:
        return self.steps[self.position]

    @property
    def is_finished(self) -> bool:
        return self.position == len(self.steps)

    @property
    def waits_for_reader(self) -> bool:
        return self.reports.qsize() >= LARGEST_LEAD

    def begin_step(self, parts: list[list[int]], surveyed: float) -> None:
        self.parts = deque(parts)
        self.surveyed = surveyed
        self.done = []
        self.begun, self.joined = True, False

    def restart_step(self) -> None:
        """After a pass that failed: what it added to the gradients was taken back."""
        self.begun = False

    def build_part(self, places: list[int]) -> Part:
        step = self.step
        examples = [step.examples[place] for place in places]
        return Part(self.slot, examples, step.objective, step.divisor, self.surveyed)

    def record(self, places: list[int], result: PartResult) -> None:
        self.done.append((places, result))

    def end_step(self, grad_norm: float, memory_bytes: int) -> None:
        """Tells of the step that was just taken and goes on to the next."""
        step = self.step
        names = list(self.done[0][1].sums) if self.done else []
        sums = {name: sum(result.sums[name] for _, result in self.done) for name in names}
        numbers = {
            "loss": sum(result.loss for _, result in self.done),
            "grad_norm": grad_norm,
            "learning_rate": step.learning_rate,
            "num_trainable_tokens": step.num_trained,
            "memory_bytes": memory_bytes,
        }
        numbers |= step.objective.describe(sums, step.num_trained)
        self.position += 1
        self.reports.put(StepTaken(self.position, numbers, self.collect_columns(step), self.step_seconds))
        self.begun, self.alone, self.step_seconds = False, False, 0.0

    def collect_columns(self, step: Step) -> list[Columns]:
        """In the order of the step's examples, empty for those without trained tokens."""
        columns: list[Columns] = [{} for _ in step.examples]
        for places, result in self.done:
            for place, column in zip(places, result.columns, strict=False):
                columns[place] = column
        return columns

    def is_save_due(self) -> bool:
        return not self.is_finished and time.monotonic() - self.saved_at >= self.save_seconds

    def save(self, state: AdapterState, *, last: bool) -> None:
        self.reports.put(Saved(self.position, state, last))
        self.saved_at = time.monotonic()

    def fail(self, cause: BaseException) -> None:
        self.reports.put(cause)

    def read_reports(self) -> Iterator[StepTaken | Saved]:
        """For the job's own thread: whatever happens, until the last `Saved`. Raises what ended the work."""
        while True:
            report = self.reports.get()
            self.on_read()
            if isinstance(report, BaseException):
                raise report
            yield report
            if isinstance(report, Saved) and report.last:
                return

"""The training of one job on the device: its steps, its position and its reports."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue

from trainyard_trainer.compute.model.optimizer import Recipe
from trainyard_trainer.compute.model.slots import AdapterState
from trainyard_trainer.compute.rows.step import Columns, Microbatch, MicrobatchResult, Numbers, Step, Steps

# The maximum of finished steps whose reports wait. A long outage of the status server halts the training.
MAX_PENDING_REPORTS = 16


@dataclass(frozen=True)
class StepReport:
    """The step of this number (the first is 1), its numbers, and for each example the columns of its tokens."""

    number: int
    numbers: Numbers
    columns: list[Columns]
    seconds: float


@dataclass(frozen=True)
class StateReport:
    """The adapter after this many steps. `last` says that no step follows in this attempt."""

    steps_taken: int
    state: AdapterState
    last: bool


@dataclass(eq=False)
class TrainingRun:
    """`check` raises an exception when the job was taken away. No further step begins while `is_shutting_down` is true.
    `position` counts the finished steps. The current step shares no pass with other runs while `is_isolated` is set.
    `was_co_batched` says that it shared one. `microbatches` are those of the current step that still wait."""

    slot: str
    recipe: Recipe
    steps: Steps
    entity: str
    check: Callable[[], None]
    save_seconds: float
    is_shutting_down: Callable[[], bool] = lambda: False
    position: int = 0
    used_seconds: float = 0.0
    budget: int = 0
    is_isolated: bool = False
    was_co_batched: bool = False
    microbatches: deque[list[int]] = field(default_factory=deque)
    done: list[tuple[list[int], MicrobatchResult]] = field(default_factory=list)
    step_seconds: float = 0.0
    mean_kl: float = 0.0
    step_begun: bool = False
    saved_at: float = field(default_factory=time.monotonic)
    reports: SimpleQueue = field(default_factory=SimpleQueue)
    context: Context = field(default_factory=copy_context)  # the context of the job's thread, which has its log
    on_read: Callable[[], None] = lambda: None

    @property
    def step(self) -> Step:
        return self.steps[self.position]

    @property
    def is_finished(self) -> bool:
        return self.position == len(self.steps)

    @property
    def waits_for_reader(self) -> bool:
        return self.reports.qsize() >= MAX_PENDING_REPORTS

    def begin_step(self, microbatches: list[list[int]], mean_kl: float) -> None:
        self.microbatches = deque(microbatches)
        self.mean_kl = mean_kl
        self.done = []
        self.step_begun, self.was_co_batched = True, False

    def restart_step(self) -> None:
        """Call it after a failed pass, when its gradients are cleared."""
        self.step_begun = False

    def build_microbatch(self, indices: list[int]) -> Microbatch:
        step = self.step
        examples = [step.examples[index] for index in indices]
        return Microbatch(self.slot, examples, step.objective, step.divisor, self.mean_kl)

    def record(self, indices: list[int], result: MicrobatchResult) -> None:
        self.done.append((indices, result))

    def end_step(self, grad_norm: float, memory_bytes: int) -> None:
        """Reports the finished step and moves to the next one."""
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
        self.reports.put(StepReport(self.position, numbers, self.collect_columns(step), self.step_seconds))
        self.step_begun, self.is_isolated, self.step_seconds = False, False, 0.0

    def collect_columns(self, step: Step) -> list[Columns]:
        """In the order of the step's examples. Empty for those without trained tokens."""
        columns: list[Columns] = [{} for _ in step.examples]
        for indices, result in self.done:
            for index, column in zip(indices, result.columns, strict=False):
                columns[index] = column
        return columns

    def is_save_due(self) -> bool:
        return not self.is_finished and time.monotonic() - self.saved_at >= self.save_seconds

    def save(self, state: AdapterState, *, last: bool) -> None:
        self.reports.put(StateReport(self.position, state, last))
        self.saved_at = time.monotonic()

    def fail(self, cause: BaseException) -> None:
        self.reports.put(cause)

    def read_reports(self) -> Iterator[StepReport | StateReport]:
        """Yields the reports up to the last `StateReport`, in the job's thread. Raises the exception that ended the
        run."""
        while True:
            report = self.reports.get()
            self.on_read()
            if isinstance(report, BaseException):
                raise report
            yield report
            if isinstance(report, StateReport) and report.last:
                return

"""The training session of one job: its adapter on the device, its steps and reports, its progress and checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_artifacts.checkpoints import OPTIMIZER_STATE, fetch_checkpoint, locate_checkpoint, locate_progress
from trainyard_artifacts.checkpoints import write_checkpoint as store_checkpoint
from trainyard_artifacts.files import WriteFiles
from trainyard_base_model.targets import measure_coverage
from trainyard_trainer import log
from trainyard_trainer.compute.model.adapter_files import read_adapter, read_shape, save_adapter, save_optimizer
from trainyard_trainer.compute.model.optimizer import Recipe, require_finite
from trainyard_trainer.compute.model.slots import AdapterState, Shape, is_same_adapter
from trainyard_trainer.compute.model.targets import choose_targets
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Numbers, Steps
from trainyard_trainer.compute.scheduling.scheduler import free_memory
from trainyard_trainer.compute.scheduling.training_run import StateReport, StepReport, TrainingRun
from trainyard_trainer.failures import JobFailure, ShuttingDown
from trainyard_trainer.job import Job
from trainyard_trainer.progress import Progress, digest_steps, fetch_progress
from trainyard_trainer.reports.claims import Artifact
from trainyard_trainer.reports.job_warnings import JobWarning

# Returns further numbers of the step.
OnStep = Callable[[StepReport], Numbers]
# Errors of complete files with wrong contents.
UNREADABLE = (ArtifactError, SafetensorError, ValueError, KeyError, TypeError)


@dataclass
class TrainingSession:
    """`progress` counts the work of the job, including earlier attempts. `origin` is the adapter that the job started
    from. None is an untrained one."""

    job: Job
    recipe: Recipe
    shape: Shape
    slot: str
    origin: AdapterState | None
    get_extra_state: Callable[[], dict] = dict
    progress: Progress = field(default_factory=Progress)

    def warn_of_layers(self) -> list[JobWarning]:
        """Warns of layers without an adapter, if the administrator did not choose the layers."""
        if self.job.settings.lora.target_modules:
            return []
        targets = self.shape.target_modules
        coverage = self.job.scheduler.call(lambda: measure_coverage(self.job.base.model, targets))
        if not coverage.left_out:
            return []
        message = (
            f"These layers of the base model are not trained ({coverage.share:.0%} of the weights of its layers): "
            f"{', '.join(coverage.left_out)}. The trained layers are {', '.join(targets)}. "
            "lora.targetModules of the BaseModel can name others."
        )
        return [JobWarning("layers_not_trained", message)]

    def score(self, examples: Sequence[Example]) -> list[np.ndarray]:
        """The log-probabilities of each example's trained tokens, under the model at the job's start."""
        return score_under(self.job, self.slot, examples)

    def resume(
        self,
        steps: Steps,
        set_extra_state: Callable[[dict], None] = lambda _: None,
        get_extra_state: Callable[[], dict] = dict,
    ) -> None:
        """Continues after an interrupted attempt, if it saved usable progress of the same steps.

        `get_extra_state` returns the job's other state as JSON, and `set_extra_state` restores it.
        """
        self.get_extra_state = get_extra_state
        self.progress = Progress(digest_steps(steps))
        job, saved = self.job, self.job.claim.resume
        if saved is None:
            return
        try:
            folder, progress = job.with_retries(lambda: fetch_progress(job.store, saved, job.claim.id, steps))
            state = read_adapter(folder, self.recipe.method)
            job.scheduler.call(lambda: job.scheduler.executor.refill(self.slot, state))
        except (*UNREADABLE, OSError, JobFailure) as cause:
            log.warn("saved progress cannot be used, beginning anew", job=job.claim.id, error=str(cause))
            return
        self.progress = progress
        set_extra_state(progress.extra_state)
        log.info("job resumed", job=self.job.claim.id, steps_taken=self.progress.steps_taken)

    def train(self, steps: Steps, constant: Numbers, on_step: OnStep = lambda _: {}) -> AdapterState:
        """Runs the remaining steps. Posts one gradient_step event for each, with the `constant` numbers."""
        job = self.job
        run = TrainingRun(
            self.slot,
            self.recipe,
            steps,
            job.claim.entity,
            job.check_step,
            job.settings.save_seconds,
            job.shutdown.requested.is_set,
            position=self.progress.steps_taken,
        )
        job.scheduler.submit(run)
        try:
            for report in run.read_reports():
                if isinstance(report, StepReport):
                    self.report_step(report, constant, on_step(report))
                    continue
                self.handle_save(report, finished=run.is_finished)
                if report.last:
                    return report.state
            raise RuntimeError("a training run ended without its last state")
        finally:
            job.scheduler.call_if_open(lambda: job.scheduler.remove(run))

    def report_step(self, report: StepReport, constant: Numbers, more: Numbers) -> None:
        """`more` are numbers that not every step has. They are not averaged over the steps."""
        speed = report.numbers["num_trainable_tokens"] / max(report.seconds, 1e-9)
        numbers = constant | report.numbers | {"tokens_per_second": speed}
        self.progress.add(numbers)
        self.job.lease.post_event(report.number, "gradient_step", numbers | more)

    def handle_save(self, saved: StateReport, *, finished: bool) -> None:
        """Stores and registers the state between two steps. Ends the attempt if the process is about to end."""
        if saved.last and finished:
            return
        if saved.steps_taken:
            self.save_progress(saved)
        if saved.last:
            raise ShuttingDown(f"the trainer stops after step {saved.steps_taken} of the job")

    def save_progress(self, saved: StateReport) -> None:
        """If it fails, the job continues and saves its progress later."""
        self.progress.extra_state = self.get_extra_state()
        uri = locate_progress(self.job.claim.id)
        try:
            write_progress = partial(self.progress.save, self.job.claim.id)
            # Another process will read it. A long job would fill this process's cache.
            digest = store_checkpoint(self.job.store, uri, self.make_writer(saved.state, write_progress), cached=False)
        except (StoreUnavailable, ArtifactError, OSError) as cause:
            log.warn("progress cannot be saved, going on without", job=self.job.claim.id, error=str(cause))
            return
        self.job.lease.post_progress(Artifact(uri, digest), saved.steps_taken)

    def write_checkpoint(self, state: AdapterState, metrics: Numbers, warnings: Sequence[JobWarning] = ()) -> None:
        """Each job ends with a checkpoint, even if there was nothing to train. `warnings` are those of the method."""
        self.job.lease.flush()
        require_finite(state.weights)
        uri = locate_checkpoint(self.job.claim.checkpoint_id)
        digest = self.job.with_retries(lambda: store_checkpoint(self.job.store, uri, self.make_writer(state)))
        self.job.lease.post_checkpoint(uri, digest, metrics, [*warnings, *self.find_warnings(state)])

    def find_warnings(self, state: AdapterState) -> list[JobWarning]:
        """Warnings that are only known at the end."""
        if not self.progress.sums.get("num_trainable_tokens") or not is_same_adapter(state, self.origin):
            return []
        advice = "Check that learning_rate is not 0 or too small."
        message = f"No weight of the model changed (gradient steps: {self.progress.steps_taken}). {advice}"
        return [JobWarning("weights_unchanged", message)]

    def make_writer(self, state: AdapterState, add: WriteFiles = lambda _: None) -> WriteFiles:
        """Returns a function that writes the files of a checkpoint. `add` writes further ones."""

        def save(folder: Path) -> None:
            save_adapter(state, self.shape, self.job.base.name, folder)
            self.job.lease.check()
            save_optimizer(state, self.recipe.method, folder)
            add(folder)
            self.job.lease.check()

        return save


@contextmanager
def open_session(job: Job, recipe: Recipe) -> Iterator[TrainingSession]:
    """Opens the model as its last job left it."""
    shape, state = read_checkpoint(job, job.claim.from_checkpoint, recipe.method)
    with open_slot(job, shape, state) as slot:
        yield TrainingSession(job, recipe, shape, slot, state)


def read_checkpoint(job: Job, origin: Artifact | None, method: str) -> tuple[Shape, AdapterState | None]:
    """Reads and verifies the checkpoint. An untrained adapter if there is none yet."""
    if origin is None:
        return choose_shape(job), None
    folder = job.with_retries(lambda: fetch_checkpoint(job.store, origin.uri, origin.digest, [OPTIMIZER_STATE]))
    try:
        return read_shape(folder), read_adapter(folder, method)
    except UNREADABLE as cause:
        raise ArtifactError(f"checkpoint {origin.uri} cannot be read: {cause}") from cause


def choose_shape(job: Job) -> Shape:
    """The shape of a new adapter, from the base model's settings."""
    lora = job.settings.lora
    targets = job.scheduler.call(lambda: choose_targets(job.base.model, lora.target_modules))
    return Shape(lora.rank, lora.alpha, targets)


@contextmanager
def open_slot(job: Job, shape: Shape, state: AdapterState | None) -> Iterator[str]:
    executor = job.scheduler.executor
    slot = job.scheduler.call(lambda: executor.open(shape, state))
    try:
        yield slot
    finally:
        job.scheduler.call_if_open(lambda: executor.close(slot))


def score_under(job: Job, slot: str | None, examples: Sequence[Example]) -> list[np.ndarray]:
    """Calls the device thread once for each slice, so that other runs can go between. Retries with smaller passes if
    memory is exhausted."""
    budget = job.scheduler.policy.max_batch_tokens
    try:
        return score_in_turns(job, slot, examples, budget)
    except torch.OutOfMemoryError as cause:
        free_memory(cause)
        log.warn("out of memory, trying again with smaller batches", max_batch_tokens=budget // 2)
    return score_in_turns(job, slot, examples, budget // 2)


def score_in_turns(job: Job, slot: str | None, examples: Sequence[Example], budget: int) -> list[np.ndarray]:
    return [
        logprobs
        for passes in job.scheduler.split(examples, budget)
        for logprobs in job.scheduler.call(lambda passes=passes: job.scheduler.executor.score(slot, passes, job.check))
    ]

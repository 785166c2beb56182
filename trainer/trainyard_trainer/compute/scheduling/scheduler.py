"""Shares the device among training runs by time: the run that has used it least gets the next slice.

A slice is one pass through the base model for each process. Several runs share a pass when the policy allows it.
"""

import resource
import time
from collections.abc import Sequence
from traceback import clear_frames

import torch

from trainyard_trainer import log
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import split_in_order, split_packed, split_padded
from trainyard_trainer.compute.scheduling.device_thread import BROKEN, DeviceThread
from trainyard_trainer.compute.scheduling.forward_passes import ForwardPass, plan_passes, split_evenly
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.training_run import TrainingRun
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import Fenced, JobFailure, ShuttingDown


class Scheduler(DeviceThread):
    """Runs slices of the submitted runs on the executor."""

    def __init__(self, executor: Executor, policy: Policy) -> None:
        super().__init__()
        self.executor = executor
        self.policy = policy
        # Counts for metrics, which other threads read.
        self.busy_seconds, self.steps_taken, self.tokens_trained = 0.0, 0, 0

    @property
    def linger_seconds(self) -> float | None:
        return self.executor.linger_seconds

    def rest(self, *, is_idle: bool) -> None:
        self.executor.rest(is_idle=is_idle)

    def submit(self, run: TrainingRun) -> None:
        """Starts the run. `run.read_reports` yields its reports."""
        run.budget = self.policy.max_batch_tokens
        run.on_read = self.wake
        with self.changed:
            self.require_open()
            run.used_seconds = min((other.used_seconds for other in self.runs), default=0.0)
            self.runs.append(run)
            self.changed.notify()

    def split(self, examples: Sequence[Example], budget: int) -> list[list[list[Example]]]:
        """Splits examples in order into microbatches for slices. Examples without trained tokens are left out."""
        choose = split_packed if self.executor.base.packs else split_in_order
        world_size = self.executor.world_size
        microbatches = split_evenly(lambda bound: choose(examples, bound), budget, world_size)
        passes = [[examples[index] for index in microbatch] for microbatch in microbatches]
        return [passes[start : start + world_size] for start in range(0, len(passes), world_size)]

    def split_indices(self, examples: Sequence[Example], budget: int) -> list[list[int]]:
        split = split_packed if self.executor.base.packs else split_padded
        return split_evenly(lambda bound: split(examples, bound), budget, self.executor.world_size)

    def run_slice(self, first: TrainingRun, runs: list[TrainingRun]) -> None:
        """Runs one slice for `first`, and for the runs that can share its passes."""
        self.forget_waiting(first)
        self.active = chosen = [first]
        if first.step_begun or not first.is_shutting_down():  # else it is only saved
            self.executor.enter()
        started = time.monotonic()
        try:
            if self.prepare(first):
                co_batched = self.find_co_batched(first, runs)
                passes = plan_passes(first, co_batched, self.executor.world_size, self.policy.max_batch_tokens)
                self.active = chosen = list(
                    dict.fromkeys(contribution.run for contributions in passes for contribution in contributions)
                )
                self.run_passes(passes, chosen)
        except BROKEN:
            raise
        except Exception as cause:  # any error ends the run, not the thread
            self.recover(chosen, cause)
        spent = time.monotonic() - started
        self.busy_seconds += spent
        for run in chosen:
            run.used_seconds += spent / len(chosen)

    def forget_waiting(self, first: TrainingRun) -> None:
        """A run that waits for its reader saves no device time. Otherwise it would later have the device alone."""
        with self.changed:
            for run in self.runs:
                if run.waits_for_reader:
                    run.used_seconds = max(run.used_seconds, first.used_seconds)

    def prepare(self, run: TrainingRun) -> bool:
        """True when the run's next microbatch is ready. Ends or saves the run when that is due."""
        run.check()
        if run.step_begun:
            return bool(run.microbatches)
        if run.is_finished or run.is_shutting_down():
            self.end(run)
            return False
        if run.is_save_due():
            run.save(self.executor.read(run.slot), last=False)
        self.begin_step(run)
        return bool(run.microbatches)

    def begin_step(self, run: TrainingRun) -> None:
        step = run.step
        microbatches = self.split_indices(step.examples, run.budget)
        mean_kl = self.run_prepass(run, microbatches) if step.objective.needs_prepass and microbatches else 0.0
        run.begin_step(microbatches, mean_kl)
        if not microbatches:  # no step without a gradient: the optimizer's momentum would change the weights
            run.end_step(0.0, measure_memory())

    def run_prepass(self, run: TrainingRun, microbatches: list[list[int]]) -> float:
        passes = [[run.step.examples[index] for index in microbatch] for microbatch in microbatches]
        scored = self.executor.score(run.slot, passes, run.check)
        return run.step.objective.compute_mean_kl([example for examples in passes for example in examples], scored)

    def find_co_batched(self, first: TrainingRun, runs: list[TrainingRun]) -> list[TrainingRun]:
        """Runs whose next microbatches may share a pass with this one's, least device time first."""
        if self.policy.co_batch == OFF or not self.may_join(first):
            return []
        found: list[TrainingRun] = []
        for run in sorted(runs, key=lambda run: run.used_seconds):
            allowed = self.policy.co_batch == ANY or run.entity == first.entity
            if allowed and run is not first and self.may_join(run) and self.is_ready(run):
                found.append(run)
        return found

    def may_join(self, run: TrainingRun) -> bool:
        """The head only sees the tokens that predict trained ones. So the ranges of a row do not apply to it."""
        return self.executor.base.packs and not run.is_isolated and not self.executor.adapts_head(run.slot)

    def is_ready(self, run: TrainingRun) -> bool:
        """As `prepare`, but an exception waits for the run's own slice."""
        if run.step_begun:
            return True
        if run.is_finished or run.is_shutting_down() or run.is_save_due() or run.step.objective.needs_prepass:
            return False
        try:
            self.begin_step(run)
        except BROKEN:
            raise
        except Exception:  # raised again in that slice
            run.restart_step()
            return False
        return bool(run.microbatches)

    def run_passes(self, passes: list[ForwardPass], runs: list[TrainingRun]) -> None:
        started = time.monotonic()

        def check() -> None:
            for run in runs:
                run.check()

        results = self.executor.backward(
            [[contribution.build_microbatch() for contribution in contributions] for contributions in passes], check
        )
        for contributions, found in zip(passes, results, strict=True):
            for contribution, result in zip(contributions, found, strict=True):
                contribution.run.record(contribution.indices, result)
        spent = time.monotonic() - started
        for run in runs:
            run.was_co_batched |= len(runs) > 1
            run.step_seconds += spent
            if not run.microbatches:
                self.end_step(run)

    def end_step(self, run: TrainingRun) -> None:
        started = time.monotonic()
        try:
            norm = self.executor.step_optimizer(run.slot, run.recipe, run.step.learning_rate)
        except JobFailure as cause:
            self.suspect(run, cause)
            return
        run.step_seconds += time.monotonic() - started
        self.steps_taken += 1
        self.tokens_trained += run.step.num_trained
        try:
            run.end_step(norm, measure_memory())
        except BROKEN:
            raise
        except Exception as cause:  # after any error, the step must not be repeated
            self.drop(run, cause)

    def suspect(self, run: TrainingRun, cause: JobFailure) -> None:
        """NaN gradients may come from any job that shared a pass of this step, also an earlier pass: flex attention
        multiplies with the zeros of its mask. Each of these jobs finds out alone, at the end of its own step."""
        if not run.was_co_batched:
            self.drop(run, cause)
            return
        self.executor.clear(run.slot)
        run.restart_step()
        run.is_isolated = True

    def end(self, run: TrainingRun) -> None:
        self.remove(run)
        try:
            state = self.executor.read(run.slot)
        except BROKEN:
            raise
        except Exception as cause:  # other runs may share this slice, so any error is caught
            self.drop(run, cause)
        else:
            run.save(state, last=True)

    def recover(self, runs: list[TrainingRun], cause: Exception) -> None:
        """Clears what a failed pass has added. Runs that shared the pass continue alone, so that one failure ends only
        one run."""
        for run in runs:
            self.executor.clear(run.slot)
            run.restart_step()
        if isinstance(cause, Fenced | ShuttingDown):
            self.dismiss(runs)
        elif len(runs) > 1:
            for run in runs:
                run.is_isolated = True
        elif isinstance(cause, torch.OutOfMemoryError):
            self.shrink(runs[0], cause)
        else:
            self.drop(runs[0], cause)

    def dismiss(self, runs: list[TrainingRun]) -> None:
        """Ends the runs whose check fails. A run without time left saves its finished steps."""
        for run in runs:
            try:
                run.check()
            except ShuttingDown:
                self.end(run)
            except Exception as cause:  # the check of another run may fail first, with any error
                self.drop(run, cause)

    def shrink(self, run: TrainingRun, cause: torch.OutOfMemoryError) -> None:
        """Retries a step once, with half as many tokens in a pass."""
        free_memory(cause)
        if run.budget < self.policy.max_batch_tokens:
            self.drop(run, cause)
        else:
            run.budget //= 2
            message = "out of memory, trying again with smaller batches"
            run.context.run(log.warn, message, max_batch_tokens=run.budget)

    def drop(self, run: TrainingRun, cause: BaseException) -> None:
        self.remove(run)
        self.executor.clear(run.slot)
        run.fail(cause)

    def remove(self, run: TrainingRun) -> None:
        with self.changed:
            if run in self.runs:
                self.runs.remove(run)


def free_memory(cause: torch.OutOfMemoryError) -> None:
    """Frees the tensors of the failed pass, which the frames of the exception hold."""
    clear_frames(cause.__traceback__)
    torch.cuda.empty_cache()


def measure_memory() -> int:
    """Bytes: the maximum that was allocated on the GPU. Without a GPU, the process's maximum."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

"""The thread that owns the device. It runs calls from other threads, and slices of training runs between them."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import torch

from trainyard_trainer import log
from trainyard_trainer.compute.scheduling.training_run import TrainingRun
from trainyard_trainer.failures import DeviceLost, JobFailure, ShuttingDown, explain_failure

Result = TypeVar("Result")
# After an error of the GPU itself, every further call fails.
BROKEN = (DeviceLost, torch.AcceleratorError)


@dataclass(eq=False)
class Call(Generic[Result]):
    """A function that another thread waits for."""

    function: Callable[[], Result]
    future: "Future[Result]" = field(default_factory=Future)

    def run(self) -> None:
        try:
            result = self.function()
        except BaseException as cause:  # raised again in the calling thread
            self.fail(cause)
            if isinstance(cause, BROKEN):
                raise
        else:
            with suppress(InvalidStateError):  # the calling thread may have given up
                self.future.set_result(result)

    def fail(self, cause: BaseException) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(cause)


class DeviceThread:
    """Use it as a context, within which it runs. Any thread may call it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.runs: list[TrainingRun] = []
        self.calls: list[Call] = []
        self.active: Sequence[TrainingRun | Call] = []  # what uses the device now
        self.called = False  # whether a call ran last
        self.closed = False
        self.on_failure: Callable[[JobFailure], None] = self.abort
        threads = torch.get_num_threads()  # threads that start later do not inherit the setting
        self.thread = threading.Thread(target=self.run, args=(threads,), name="compute", daemon=True)

    def run_slice(self, first: TrainingRun, runs: list[TrainingRun]) -> None:
        """Runs one slice of device time for `first`, which is one of the ready runs."""
        raise NotImplementedError

    @property
    def linger_seconds(self) -> float | None:
        """How long to wait for work before a rest. None for as long as it takes."""
        raise NotImplementedError

    def rest(self, *, is_idle: bool) -> None:
        """Called after each slice and each call, and when there is nothing to do."""
        raise NotImplementedError

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.changed:
            lost, self.closed = self.closed, True
            self.changed.notify()
        if lost:  # the thread may never return
            return
        self.thread.join()
        with self.changed:
            for waiting in (*self.runs, *self.calls):
                waiting.fail(ShuttingDown("the trainer ends"))

    def call(self, function: Callable[[], Result]) -> Result:
        """Returns the result of `function`. The device thread calls it between two slices."""
        call = Call(function)
        with self.changed:
            self.require_open()
            self.calls.append(call)
            self.changed.notify()
        return call.future.result()

    def call_if_open(self, function: Callable[[], object]) -> None:
        """As `call`, but does nothing when the device is lost or the trainer ends."""
        with suppress(ShuttingDown):
            self.call(function)

    def wake(self) -> None:
        with self.changed:
            self.changed.notify()

    def require_open(self) -> None:
        if self.closed:
            raise ShuttingDown("the trainer ends")

    def abort(self, failure: JobFailure) -> None:
        """The device is lost. Its current users fail, and all other runs are released. Any thread may call this."""
        with self.changed:
            self.closed = True
            for waiting in (*self.runs, *self.calls):
                if waiting not in self.active:
                    waiting.fail(ShuttingDown("the trainer ends, because another job's turn failed"))
            for active in self.active:
                active.fail(failure)
            self.changed.notify()

    def run(self, num_threads: int) -> None:
        torch.set_num_threads(num_threads)
        try:
            while not self.closed:
                self.run_next()
        except DeviceLost:  # its failure is already reported
            return
        except Exception as cause:  # no job caused it: without this thread they would wait forever
            log.error("the device cannot be used any more", cause)
            self.on_failure(explain_failure(cause))

    def run_next(self) -> None:
        """Runs a call or a slice, alternating when both wait. Waits when neither does."""
        with self.changed:
            runs = [run for run in self.runs if not run.waits_for_reader]
            call = self.calls.pop(0) if self.calls and not (runs and self.called) else None
            self.called = call is not None
            self.active = [call] if call else []
            is_idle = not call and not runs and not self.closed and not self.changed.wait(self.linger_seconds)
        if call:
            call.run()
        elif runs:
            self.run_slice(min(runs, key=lambda run: run.used_seconds), runs)
        self.rest(is_idle=is_idle)

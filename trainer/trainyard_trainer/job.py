"""One attempt at one job: its dependencies, and what ends it early."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_artifacts.store import ArtifactStore, open_store
from trainyard_trainer import log
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import InvalidInput, ShuttingDown
from trainyard_trainer.reports.claims import Claim, Lease
from trainyard_trainer.retries import RetryPolicy, call_with_retries
from trainyard_trainer.statistics.recorder import TokenRecorder
from trainyard_trainer.statistics.upload import Uploads

Result = TypeVar("Result")
# How long to wait for a store that does not answer, in seconds between attempts.
PAUSES = (1.0, 2.0, 4.0, 8.0)
# The share of the grace period for the current steps. The rest is for saving their progress.
STEPS_SHARE = 0.75


@dataclass
class Shutdown:
    """The request to end the process. Current steps are finished if there is time."""

    requested: threading.Event = field(default_factory=threading.Event)
    deadline: float = float("inf")

    def request(self, seconds: float) -> None:
        self.deadline = time.monotonic() + STEPS_SHARE * seconds
        self.requested.set()

    def check(self) -> None:
        if self.requested.is_set():
            raise ShuttingDown("the trainer ends")

    def require_time_left(self) -> None:
        if time.monotonic() > self.deadline:
            raise ShuttingDown("the trainer stops: its grace period is over")


@dataclass(frozen=True)
class Job:
    """Each method raises Fenced soon after the job was fenced off from this process."""

    claim: Claim
    lease: Lease
    scheduler: Scheduler
    settings: Settings
    shutdown: Shutdown
    uploads: Uploads

    @property
    def base(self) -> Base:
        return self.scheduler.executor.base

    @property
    def store(self) -> ArtifactStore:
        return open_store(self.settings.artifacts)

    def check(self) -> None:
        """For the work before the training, which is not worth saving."""
        self.lease.check()
        self.shutdown.check()

    def check_step(self) -> None:
        """For a step in progress: it is finished and saved, if there is time."""
        self.lease.check()
        self.shutdown.require_time_left()

    @contextmanager
    def record_tokens(self) -> Iterator[TokenRecorder]:
        """The recorded tokens are stored and reported in the background after a job that succeeds."""
        recorder = TokenRecorder(self.claim.id, self.claim.token_statistics)
        try:
            yield recorder
        except BaseException:
            recorder.discard()
            raise
        self.uploads.start(recorder, self.store, self.lease.client, self.claim)

    def with_retries(self, use_store: Callable[[], Result]) -> Result:
        """Returns the result of `use_store`. Repeats the call while the artifact store does not answer."""

        def report(cause: Exception) -> None:
            log.warn("waiting for the artifact store", job=self.claim.id, error=str(cause))

        def wait(pause: float) -> None:
            self.shutdown.requested.wait(pause)
            self.check_step()

        return call_with_retries(use_store, RetryPolicy(StoreUnavailable, PAUSES, report, wait))

    def read_input(self) -> bytes:
        return self.find_input(self.store.read)

    def open_input(self) -> BinaryIO:
        """Opens a file that may be too large to be read as a whole. The file may be renamed or deleted while it is
        open."""
        return self.find_input(lambda uri, digest: self.store.fetch(uri, digest).open("rb"))

    def find_input(self, use_store: Callable[[str, str], Result]) -> Result:
        try:
            return self.with_retries(lambda: use_store(self.claim.input.uri, self.claim.input.digest))
        except ArtifactError as cause:
            raise InvalidInput(f"The input is invalid: {cause}.", "InputUnusable") from cause

"""A warm trainer. It claims jobs while it has room for more, and runs each in its own thread."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import torch

from trainyard_artifacts.store import open_store
from trainyard_trainer import log
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import Fenced, InvalidInput, ShuttingDown, explain_failure
from trainyard_trainer.job import Job, Shutdown
from trainyard_trainer.methods import METHODS
from trainyard_trainer.readiness import Readiness
from trainyard_trainer.reports.claims import Claim, Lease, parse_claim
from trainyard_trainer.reports.job_log import JobLog
from trainyard_trainer.reports.status_client import CLAIM_WAIT_SECONDS, StatusClient, StatusUnavailable
from trainyard_trainer.reports.text import make_sendable
from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries
from trainyard_trainer.statistics.upload import Uploads

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 5.0
# The status server truncates messages to this length. Some libraries quote whole files.
MAX_MESSAGE_LENGTH = 2_000
# How an attempt ended whose checkpoint is reported.
TRAINED = "trained"
# The server took the job away, or it could not be reported how it ended.
DROPPED = "dropped"


@dataclass
class Worker:
    """The jobs of one process. `running` has their threads by id."""

    client: StatusClient
    scheduler: Scheduler
    settings: Settings
    readiness: Readiness = field(default_factory=Readiness)
    shutdown: Shutdown = field(default_factory=Shutdown)
    uploads: Uploads = field(default_factory=Uploads)
    process_id: str = field(default_factory=lambda: str(uuid4()))
    running: dict[str, threading.Thread] = field(default_factory=dict)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def serve(self) -> None:
        """Runs jobs until a signal handler raises an exception."""
        while True:
            self.wait_for_room()
            self.start(self.wait_for_claim())

    def serve_one(self) -> str:
        """Runs the job of the settings' `job_id`, and returns its outcome."""
        claim = self.wait_for_claim()
        self.start(claim)
        with self.changed:
            self.changed.wait_for(lambda: not self.running)
        ((_, outcome),) = self.outcomes
        return outcome

    def wait_for_room(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: len(self.running) < self.settings.max_jobs)

    def wait_for_claim(self) -> Claim:
        while True:
            # Random pauses spread the trainers that lost the same server.
            pauses = (pause * random.uniform(0.5, 1) for pause in back_off(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS))
            if body := call_with_retries(self.ask_for_claim, RetryPolicy(StatusUnavailable, pauses, warn_of_no_claim)):
                return parse_claim(body)

    def ask_for_claim(self) -> dict | None:
        base = self.scheduler.executor.base
        gpus = count_gpus(base.device, self.settings)
        # The first claim is answered at once. It shows that the server takes our claims.
        wait_seconds = CLAIM_WAIT_SECONDS if self.readiness.is_ready else 0
        try:
            claim = self.client.claim(
                base.name,
                self.process_id,
                gpus,
                list(self.running),
                wait_seconds=wait_seconds,
                job_id=self.settings.job_id,
            )
        except StatusUnavailable:
            self.readiness.record(False)
            raise
        self.readiness.record(True)
        return claim

    def start(self, claim: Claim) -> None:
        thread = threading.Thread(target=self.run, args=(claim,), name=f"job {claim.id}", daemon=True)
        with self.changed:
            self.running[claim.id] = thread
        thread.start()

    def run(self, claim: Claim) -> None:
        with self.counted(claim), JobLog(self.client, claim), Lease(self.client, claim) as lease:
            outcome = attempt_job(Job(claim, lease, self.scheduler, self.settings, self.shutdown, self.uploads))
            if outcome == DROPPED:
                lease.post_dropped()
            with self.changed:
                self.outcomes[claim.method, outcome] += 1

    def list_outcomes(self) -> list[tuple[tuple[str, str], int]]:
        """How many attempts of each method ended how."""
        with self.changed:
            return list(self.outcomes.items())

    @contextmanager
    def counted(self, claim: Claim) -> Iterator[None]:
        try:
            yield
        finally:
            with self.changed:
                del self.running[claim.id]
                self.changed.notify_all()
                if not self.running:
                    self.trim_cache()

    def trim_cache(self) -> None:
        """Between jobs, nothing in the cache is in use."""
        try:
            if cache := open_store(self.settings.artifacts).cache:
                cache.trim()
        except OSError as cause:
            log.warn("what was fetched from the artifact store cannot be tidied up", error=str(cause))

    def end(self) -> None:
        """Lets jobs finish their current step and save their progress, if there is time."""
        deadline = time.monotonic() + self.settings.grace_seconds
        self.shutdown.request(self.settings.grace_seconds)
        with self.changed:
            for thread in self.running.values():
                if thread.ident is None:  # the signal came before the thread's start
                    thread.start()
            done = self.changed.wait_for(lambda: not self.running, timeout=self.settings.grace_seconds)
        if not done:
            log.warn("the trainer ends before its jobs could be saved", jobs=len(self.running))
        self.uploads.join(max(0.0, deadline - time.monotonic()))


def warn_of_no_claim(cause: Exception) -> None:
    log.warn("cannot claim a job, trying again", error=str(cause))


def count_gpus(device: torch.device, settings: Settings) -> int:
    """The GPUs that the trainer computes on, one for each of its processes. Its pod may have more."""
    return settings.num_processes if device.type == "cuda" else 0


def attempt_job(job: Job) -> str:
    """Runs a job and reports its end to the status server, unless the server took the job away. Returns the outcome, as
    the metric names it."""
    claim, started = job.claim, time.monotonic()
    outcome = DROPPED
    log.info("job claimed", job=claim.id, attempt=claim.attempt)
    try:
        try:
            run_job(job)
            log.info("job trained", job=claim.id, attempt=claim.attempt, seconds=time.monotonic() - started)
            outcome = TRAINED
        except ShuttingDown as cause:
            job.lease.post_release()
            outcome = "released"
            log.info("job given back", job=claim.id, attempt=claim.attempt, reason=str(cause))
        except Fenced:
            raise
        except Exception as cause:
            report_failure(claim, job.lease, cause)
            outcome = "failed"
    except Fenced as cause:
        log.warn("job dropped", job=claim.id, attempt=claim.attempt, reason=str(cause))
    except Exception as cause:  # heartbeats end now, so another trainer gets the job when its lease expires
        log.error("it cannot be reported how the job ended", cause, job=claim.id, attempt=claim.attempt)
    if job.base.device.type == "cuda" and not job.scheduler.closed:
        torch.cuda.empty_cache()
    return outcome


def run_job(job: Job) -> None:
    run = METHODS.get(job.claim.method)
    if run is None:
        message = f"This trainer does not know the method {job.claim.method}; it trains {' and '.join(METHODS)}."
        raise InvalidInput(message, "UnknownMethod")
    run(job)


def report_failure(claim: Claim, lease: Lease, cause: Exception) -> None:
    failure = explain_failure(cause)
    log.error("job failed", cause, job=claim.id, attempt=claim.attempt, reason=failure.reason)
    lease.post_failure(
        {
            "category": failure.category,
            "reason": failure.reason,
            "message": make_sendable(failure.message, MAX_MESSAGE_LENGTH),
            "retryable": failure.retryable,
        }
    )

"""The loop of a warm trainer: claim, train, report, again; the base model stays loaded."""

import random
import time
from uuid import uuid4

import torch

from trainyard_artifacts.store import open_store
from trainyard_trainer import log
from trainyard_trainer.compute.adapter import Base
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import Fenced, InvalidInput, explain_failure
from trainyard_trainer.job import Job
from trainyard_trainer.reports.claims import Claim, Lease, parse_claim
from trainyard_trainer.reports.job_log import JobLog
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.rl.job import run_rl_job
from trainyard_trainer.sft.job import run_sft_job

LONGEST_PAUSE_SECONDS = 5.0
METHODS = {"RL": run_rl_job, "SFT": run_sft_job}


def serve_jobs(settings: Settings, base: Base) -> None:
    """Works until the process is told to end."""
    client = StatusClient(settings.status_url, settings.token_file)
    process_id = str(uuid4())
    while True:
        serve_next_job(client, process_id, base, settings)
        if cache := open_store(settings.artifacts).cache:
            cache.trim()  # between jobs nothing of it is in use


def serve_next_job(client: StatusClient, process_id: str, base: Base, settings: Settings) -> None:
    claim = wait_for_claim(client, process_id, base)
    with JobLog(client, claim), Lease(client, claim) as lease:
        work_on(claim, lease, base, settings)


def wait_for_claim(client: StatusClient, process_id: str, base: Base) -> Claim:
    pause = 0.5
    while True:
        try:
            if body := client.claim(base.name, process_id, base.gpus):
                return parse_claim(body)
            pause = 0.5
        except StatusUnavailable as cause:
            log.warn("cannot claim a job, trying again", error=str(cause))
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


def work_on(claim: Claim, lease: Lease, base: Base, settings: Settings) -> None:
    """Runs a job and sees to it that the status server hears how it ended, unless it took the job away."""
    started = time.monotonic()
    log.info("job claimed", job=claim.id, attempt=claim.attempt)
    try:
        try:
            run_job(Job(claim, lease, base, settings))
            log.info("job trained", job=claim.id, attempt=claim.attempt, seconds=time.monotonic() - started)
        except Fenced:
            raise
        except Exception as cause:
            report_failure(claim, lease, cause)
    except Fenced as cause:
        log.warn("job dropped", job=claim.id, attempt=claim.attempt, reason=str(cause))
    if base.device.type == "cuda":
        torch.cuda.empty_cache()


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
            "message": failure.message,
            "retryable": failure.retryable,
        }
    )

"""Runs one process of the trainer: the only one, rank 0, or another rank that torchrun started."""

import os
import signal
import sys
import time
from threading import Thread

import torch
from huggingface_hub import constants

from trainyard_artifacts.store import open_store
from trainyard_base_model.bucket_download import fetch_bucket_model
from trainyard_base_model.download import Repository, fetch_base_model
from trainyard_base_model.gpus import require_gpus
from trainyard_base_model.progress_reports import StatusServer, reported_progress
from trainyard_base_model.start_failure import StartFailure
from trainyard_base_model.targets import UnusableTarget, choose_targets, measure_coverage
from trainyard_trainer import log
from trainyard_trainer.compute.execution.device_turns import connect_to_engine
from trainyard_trainer.compute.execution.distributed import Coordinator, DistributedExecutor
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.execution.process_group import TrainerProcessGroup
from trainyard_trainer.compute.execution.shared_executor import SharedExecutor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.scheduling.policy import choose_policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import JobFailure
from trainyard_trainer.metrics import served_metrics
from trainyard_trainer.readiness import Readiness
from trainyard_trainer.reports.coverage import post_coverage
from trainyard_trainer.reports.status_client import StatusClient
from trainyard_trainer.shared_volume import require_shared_volume
from trainyard_trainer.untrained import publish_untrained
from trainyard_trainer.worker import TRAINED, Worker, count_gpus

# The exit code of a trainer of one job that did not train it. The reports say why.
NOT_TRAINED = 1


def run(settings: Settings) -> None:
    """Returns after the trainer's only job, or after the coordinator has ended."""
    turns = connect_to_engine(settings.device_socket) if settings.device_socket else None
    if turns:
        turns.acquire()
    started = time.monotonic()
    group = TrainerProcessGroup() if settings.num_processes > 1 else None
    base = load(settings, group)
    log.info("base model loaded", base_model=base.name, device=str(base.device), seconds=time.monotonic() - started)
    report_coverage(settings, base)
    if turns:
        serve(settings, SharedExecutor(base, turns))
    elif group is None:
        serve(settings, Executor(base))
    elif group.rank == 0:
        with Coordinator(base, group) as coordinator:
            serve(settings, coordinator)
    else:
        DistributedExecutor(base, group).run_commands()


def load(settings: Settings, group: TrainerProcessGroup | None) -> Base:
    """If the base model cannot be used, ends the process with one line, which Kubernetes shows as the reason."""
    try:
        require_shared_volume(settings.artifacts)
        source = fetch_source(settings)
        base = load_base(settings.base_model, source, group.mesh if group else None)
    except StartFailure as cause:
        sys.exit(f"trainyard_trainer: {cause}")
    except Exception as cause:  # transformers may raise anything for files that are not a model
        reason = " ".join(f"{type(cause).__name__}: {cause}".split())[:1000]
        sys.exit(f"trainyard_trainer: the base model {settings.model_path} cannot be loaded: {reason}{advise(reason)}")
    go_offline()
    return base


def report_coverage(settings: Settings, base: Base) -> None:
    """Logs the layers that get no adapter, and tells the status server, which shows them. Each job warns of them too.
    Unusable names fail the jobs."""
    try:
        coverage = measure_coverage(base.model, choose_targets(base.model, settings.lora.target_modules))
    except UnusableTarget as cause:
        log.warn("lora.targetModules cannot be used", target=str(cause))
        return
    if coverage.left_out:
        log.warn("layers are not trained", layers=list(coverage.left_out), share_of_weights=round(coverage.share, 3))
    if settings.rank == 0:
        client = StatusClient(settings.status_url, settings.token_file)
        Thread(target=post_coverage, args=(client, base.name, coverage), name="coverage", daemon=True).start()


def fetch_source(settings: Settings) -> Source:
    """Raises StartFailure."""
    require_gpus(torch.cuda.device_count())
    # Processes of one pod download once, and one of them tells it.
    server = None if settings.rank else StatusServer(settings.status_url, settings.token_file)
    with reported_progress(server, log_download) as progress:
        if settings.bucket_model:
            folder = str(fetch_bucket_model(settings.bucket_model, progress))
        else:
            folder = fetch_base_model(Repository(settings.model_path, settings.model_revision), progress)
    return Source(folder, settings.trust_remote_code)


def log_download(done_bytes: int, total_bytes: int) -> None:
    log.info("downloading the base model", done_bytes=done_bytes, total_bytes=total_bytes)


def go_offline() -> None:
    """Disables the model hub: everything needed is loaded. Names in jobs are never looked up there."""
    constants.HF_HUB_OFFLINE = True  # the variable of this name was read at import


def advise(reason: str) -> str:
    if "trust_remote_code" in reason:
        return " Set spec.source.trustRemoteCode of the BaseModel if you trust that code."
    if "safetensors found" in reason:
        return " Only safetensors are read: convert the weights."
    return ""


def serve(settings: Settings, executor: Executor) -> None:
    with Scheduler(executor, choose_policy(executor.base, settings)) as scheduler:
        scheduler.on_failure = lambda failure: abort(scheduler, failure)
        executor.on_failure(scheduler.on_failure)
        client, readiness = StatusClient(settings.status_url, settings.token_file), Readiness(settings.ready_file)
        worker = Worker(client, scheduler, settings, readiness=readiness)
        untrained = (scheduler, settings.lora, open_store(settings.artifacts), client)
        Thread(target=publish_untrained, args=untrained, name="untrained-adapter", daemon=True).start()
        devices = max(1, count_gpus(executor.base.device, settings))
        with served_metrics(worker, devices, settings.metrics_address):
            try:
                if settings.job_id is None:
                    worker.serve()
                elif worker.serve_one() != TRAINED:
                    sys.exit(NOT_TRAINED)
            finally:
                worker.end()


def abort(scheduler: Scheduler, failure: JobFailure) -> None:
    """Ends the jobs and the process, which cannot compute any more."""
    scheduler.abort(failure)
    os.kill(os.getpid(), signal.SIGTERM)

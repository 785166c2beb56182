"""Queued jobs that run in a worker inside the test process. A pytest plugin."""

import pytest
from safetensors.torch import load_file

from testing.deadlines import MAX_WAIT_SECONDS
from testing.fake_status_server import write_rows
from testing.jobs import LORA
from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings
from trainyard_trainer.worker import Worker

ROWS = [("Name a colour.", f"{colour}. " * 4) for colour in ("Red", "Blue", "Teal", "Pink")]


@pytest.fixture
def run_jobs(status_server, client, tmp_path, scheduler):
    """Runs the queued jobs in a worker, and returns their failures."""

    def run(policy=None, max_jobs=1, save_seconds=60.0, max_length=4096):
        store = StoreSettings(str(status_server.root))
        name = scheduler.executor.base.name
        limits = {"max_jobs": max_jobs, "save_seconds": save_seconds}
        settings = Settings("", tmp_path, name, "", store, max_length, LORA, **limits)
        with Scheduler(scheduler.executor, policy or scheduler.policy) as own_scheduler:
            worker = Worker(client, own_scheduler, settings)
            queued = [job for job in status_server.jobs.values() if job.state == "Queued"]
            for _ in queued:
                worker.wait_for_room()
                worker.start(worker.wait_for_claim())
            with worker.changed:
                assert worker.changed.wait_for(lambda: not worker.running, timeout=MAX_WAIT_SECONDS)
        return [job.failures[0] if job.failures else None for job in queued]

    return run


def offer_sft(status_server, rows=ROWS, **claimed):
    return status_server.add("SFT", write_rows(rows), {"batch_size": 4, "learning_rate": 1e-3}, **claimed)


def locate(status_server, artifact):
    return status_server.root / artifact["uri"].removeprefix("artifact:///")


def read_weights(status_server, job):
    return load_file(locate(status_server, job.checkpoints[0]) / ADAPTER_WEIGHTS)


def shorten(failure):
    return failure["category"], failure["reason"], failure["retryable"]

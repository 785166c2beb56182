"""Queued jobs, run in a worker of the tests' own process. A plugin of pytest."""

import pytest
from safetensors.torch import load_file

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.config import Settings
from trainyard_trainer.control_for_tests import write_rows
from trainyard_trainer.jobs_for_tests import LORA
from trainyard_trainer.worker import Worker

ROWS = [("Name a colour.", f"{colour}. " * 4) for colour in ("Red", "Blue", "Teal", "Pink")]


@pytest.fixture
def work(control, client, tmp_path, turns):
    """Runs the jobs that are queued in a worker of this process, and gives their failures."""

    def run(policy=None, max_jobs=1, save_seconds=60.0, max_length=4096):
        store = StoreSettings(str(control.root))
        name = turns.machine.base.name
        limits = {"max_jobs": max_jobs, "save_seconds": save_seconds}
        settings = Settings("", tmp_path, name, "", store, max_length, LORA, **limits)
        with Turns(turns.machine, policy or turns.policy) as own_turns:
            worker = Worker(client, own_turns, settings)
            queued = [job for job in control.jobs.values() if job.state == "Queued"]
            for _ in queued:
                worker.wait_for_room()
                worker.start(worker.wait_for_claim())
            with worker.changed:
                assert worker.changed.wait_for(lambda: not worker.running, timeout=60)
        return [job.failures[0] if job.failures else None for job in queued]

    return run


def offer_sft(control, rows=ROWS, **claimed):
    return control.add("SFT", write_rows(rows), {"batch_size": 4, "learning_rate": 1e-3}, **claimed)


def locate(control, artifact):
    return control.root / artifact["uri"].removeprefix("artifact:///")


def read_weights(control, job):
    return load_file(locate(control, job.checkpoints[0]) / ADAPTER_WEIGHTS)


def shorten(failure):
    return failure["category"], failure["reason"], failure["retryable"]

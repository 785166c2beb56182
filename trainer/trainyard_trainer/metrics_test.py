"""The metrics of a trainer, as Prometheus reads them."""

from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from testing.deadlines import MAX_WAIT_SECONDS
from testing.jobs import LORA
from testing.worker_jobs import offer_sft
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import ConfigError, Settings, read_metrics_address
from trainyard_trainer.metrics import DECLARED, served_metrics
from trainyard_trainer.worker import Worker


def run_job(worker):
    worker.start(worker.wait_for_claim())
    with worker.changed:
        assert worker.changed.wait_for(lambda: not worker.running, timeout=MAX_WAIT_SECONDS)


def read(port):
    families = text_string_to_metric_families(httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_metrics_count_what_a_trainer_does(client, scheduler, status_server):
    base = scheduler.executor.base.name
    settings = Settings("", Path(), base, "", StoreSettings(str(status_server.root)), 4096, LORA)
    job = offer_sft(status_server)
    with Scheduler(scheduler.executor, scheduler.policy) as own_scheduler:
        worker = Worker(client, own_scheduler, settings)
        with served_metrics(worker, 2, ("127.0.0.1", 0)) as port:
            before = read(port)
            run_job(worker)
            after = read(port)
            other = httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
    assert other.status_code == 404
    assert before["trainyard_trainer_steps_total",] == 0
    steps = [event["data"] for event in job.events.values() if event["type"] == "gradient_step"]
    assert after["trainyard_trainer_jobs_total", "SFT", "trained"] == 1
    assert after["trainyard_trainer_steps_total",] == len(steps)
    assert after["trainyard_trainer_tokens_total",] == sum(step["num_trainable_tokens"] for step in steps)
    assert after["trainyard_trainer_device_seconds_total", "busy"] > 0
    assert after["trainyard_trainer_device_seconds_total", "idle"] > 0
    assert after["trainyard_trainer_jobs_running",] == 0
    declared = {each["name"] for kind in DECLARED.values() for each in kind.values()}
    assert {name for name, *_ in after} == declared


def test_the_address_of_metrics_comes_from_the_environment():
    assert read_metrics_address({}) is None
    assert read_metrics_address({"TRAINYARD_HOST": "::", "TRAINYARD_METRICS_PORT": "8001"}) == ("::", 8001)
    with pytest.raises(ConfigError, match="TRAINYARD_HOST"):
        read_metrics_address({"TRAINYARD_METRICS_PORT": "8001"})

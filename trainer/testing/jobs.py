"""Runs jobs on the tiny chat model in tests, and collects their reports. A pytest plugin."""

import hashlib
import json
from pathlib import Path

import pytest
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.config import Settings, read_lora
from trainyard_trainer.job import Job, Shutdown
from trainyard_trainer.reports.claims import Artifact, Claim, Lease
from trainyard_trainer.worker import run_job

LORA = read_lora({})
MODEL = Path(__file__).parents[1] / "models" / "tiny-chat"


class Reports(list):
    """Collects a job's reports. It replaces a lease."""

    client = None

    def __init__(self):
        self.progress = []
        self.warnings = []

    def check(self):
        pass

    def flush(self):
        pass

    def report_start(self, num_steps, numbers, warnings):
        Lease.report_start(self, num_steps, numbers, warnings)

    def post_event(self, seq, kind, data, warnings=()):
        json.dumps(data, allow_nan=False)  # a real lease's client rejects other numbers
        self.warnings += [(warning["code"], warning["message"]) for warning in warnings]
        self.append((seq, kind, data))

    def post_progress(self, saved, step):
        self.progress.append((saved, step))

    def post_checkpoint(self, uri, digest, metrics, warnings):
        self.warnings += [(warning.code, warning.message) for warning in warnings]
        self.checkpoint = Artifact(uri, digest)
        self.metrics = metrics

    @property
    def steps(self):
        return [data for _, kind, data in self if kind == "gradient_step"]


class Recorders(list):
    """Collects what jobs recorded of their tokens. It replaces uploads."""

    def start(self, recorder, *_):
        self.append(recorder)


class Jobs:
    """Runs jobs one after the other. The n-th job writes checkpoint n."""

    def __init__(self, root, scheduler):
        self.root = root
        self.scheduler = scheduler
        self.count = 0
        self.recorders = Recorders()

    def run(self, method, content, config, *, start=None, digest=None, max_length=4096, reports=None, **claimed):
        """`claimed` has additional fields of the claim. `reports` replaces the returned list of reports."""
        self.count += 1
        found = hashlib.sha256(content).hexdigest()
        (self.root / "payloads").mkdir(exist_ok=True)
        (self.root / "payloads" / found).write_bytes(content)
        data = Artifact(f"artifact:///payloads/{found}", digest or found)
        checkpoint_id = f"00000000-0000-4000-8000-{self.count:012d}"
        name = self.scheduler.executor.base.name
        settings = Settings("", Path(), name, "", StoreSettings(str(self.root)), max_length, LORA)
        reports = Reports() if reports is None else reports
        claim = Claim("job", 1, method, data, config, checkpoint_id, start, 15.0, **claimed)
        run_job(Job(claim, reports, self.scheduler, settings, Shutdown(), self.recorders))
        return reports

    def locate(self, reports):
        return self.root / reports.checkpoint.uri.removeprefix("artifact:///")

    def read_weights(self, reports):
        return load_file(self.locate(reports) / ADAPTER_WEIGHTS)

    def count_optimizer_steps(self, reports):
        state = load_file(self.locate(reports) / "optimizer.safetensors")
        return {value.item() for name, value in state.items() if name.endswith(".step")}


@pytest.fixture(scope="session")
def scheduler(base):
    with Scheduler(Executor(base), Policy(4096)) as scheduler:
        yield scheduler


@pytest.fixture
def jobs(tmp_path, scheduler):
    return Jobs(tmp_path, scheduler)


@pytest.fixture
def load_model():
    """The tiny chat model as transformers and PEFT alone load it, optionally with a checkpoint's adapter."""

    def load(checkpoint=None):
        model = AutoModelForCausalLM.from_pretrained(MODEL)
        return (PeftModel.from_pretrained(model, checkpoint) if checkpoint else model).eval()

    return load

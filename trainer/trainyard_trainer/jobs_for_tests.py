"""What tests of jobs share: a job on the tiny chat model, and what it reports. A plugin of pytest."""

import hashlib
from pathlib import Path

import pytest
from safetensors.torch import load_file

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS
from trainyard_artifacts.settings import StoreSettings
from trainyard_trainer.config import Settings, read_lora
from trainyard_trainer.job import Job
from trainyard_trainer.reports.claims import Artifact, Claim
from trainyard_trainer.worker import run_job

LORA = read_lora({})


class Reports(list):
    """Keeps what a job reports, in the place of a lease."""

    def check(self):
        pass

    def post_event(self, seq, kind, data):
        self.append((seq, kind, data))

    def post_checkpoint(self, uri, digest, metrics):
        self.checkpoint = Artifact(uri, digest)
        self.metrics = metrics

    @property
    def steps(self):
        return [data for _, kind, data in self if kind == "gradient_step"]


class Jobs:
    """Runs jobs one after the other; the n-th writes the checkpoint n."""

    def __init__(self, root, base):
        self.root = root
        self.base = base
        self.count = 0

    def run(self, method, content, config, *, start=None, digest=None, max_length=4096):
        self.count += 1
        found = hashlib.sha256(content).hexdigest()
        (self.root / "payloads").mkdir(exist_ok=True)
        (self.root / "payloads" / found).write_bytes(content)
        data = Artifact(f"artifact:///payloads/{found}", digest or found)
        checkpoint_id = f"00000000-0000-4000-8000-{self.count:012d}"
        settings = Settings("", Path(), self.base.name, "", StoreSettings(str(self.root)), max_length, LORA)
        reports = Reports()
        run_job(Job(Claim("job", 1, method, data, config, checkpoint_id, start, 15.0), reports, self.base, settings))
        return reports

    def locate(self, reports):
        return self.root / reports.checkpoint.uri.removeprefix("artifact:///")

    def read_weights(self, reports):
        return load_file(self.locate(reports) / ADAPTER_WEIGHTS)

    def count_optimizer_steps(self, reports):
        state = load_file(self.locate(reports) / "optimizer.safetensors")
        return {value.item() for name, value in state.items() if name.endswith(".step")}


@pytest.fixture
def jobs(tmp_path, base):
    return Jobs(tmp_path, base)

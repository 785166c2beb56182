"""The main job on S3: from a payload in a bucket to an adapter that an engine finds there."""

import asyncio
import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file

from testing.fake_status_server import write_rows
from testing.jobs import Recorders, Reports
from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, OPTIMIZER_STATE
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import open_store
from trainyard_trainer import job as job_module
from trainyard_trainer.config import Settings, read_lora
from trainyard_trainer.job import Job, Shutdown
from trainyard_trainer.progress import PROGRESS
from trainyard_trainer.reports.claims import Artifact, Claim
from trainyard_trainer.worker import attempt_job

USER = {"role": "user", "content": "Name a colour."}


class Outcome(Reports):
    """Includes the report of a failed job."""

    failure = None

    def post_failure(self, report):
        self.failure = report


@pytest.fixture
def train(scheduler, make_choice):
    """Trains one step on a store, and returns the reports. The n-th call writes checkpoint n."""
    count = 0

    def run(artifacts: StoreSettings, start=None, *, stored=True):
        nonlocal count
        count += 1
        payload = put_payload(artifacts, make_choice, stored)
        settings = Settings("", Path(), scheduler.executor.base.name, "", artifacts, 4096, read_lora({}))
        checkpoint_id = f"00000000-0000-4000-8000-{count:012d}"
        config = {"learning_rate": 1e-3, "epsilon": None}
        reports = Outcome()
        claim = Claim("job", 1, "RL", payload, config, checkpoint_id, start, 15.0)
        attempt_job(Job(claim, reports, scheduler, settings, Shutdown(), Recorders()))
        return reports

    return run


def test_saved_progress_is_not_kept_outside_of_the_store(scheduler, s3_settings):
    content = write_rows([("Name a colour.", f"{colour}.") for colour in ("Red", "Blue", "Teal")])
    store, digest = open_store(s3_settings), hashlib.sha256(content).hexdigest()
    store.write_file(uri := f"artifact:///payloads/{digest}", io.BytesIO(content))
    settings = Settings(
        "", Path(), scheduler.executor.base.name, "", s3_settings, 4096, read_lora({}), save_seconds=0.0
    )
    checkpoint_id = "00000000-0000-4000-8000-000000000001"
    claim = Claim("job", 1, "SFT", Artifact(uri, digest), {"batch_size": 1}, checkpoint_id, None, 15.0)
    reports = Outcome()
    attempt_job(Job(claim, reports, scheduler, settings, Shutdown(), Recorders()))
    assert [step for _, step in reports.progress] == [1, 2]
    kept = store.cache.list_folders()  # the data, and the checkpoint from which the model's next job starts
    assert len(kept) == 2
    assert not any((folder / PROGRESS).exists() for folder in kept)


def put_payload(artifacts, make_choice, stored):
    answers = [("Red.", 1.0), ("Blue.", 0.0)]
    trajectories = [{"messages_and_choices": [USER, make_choice(text)], "reward": r} for text, r in answers]
    content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
    digest = hashlib.sha256(content).hexdigest()
    if stored:
        store = open_store(artifacts)
        store.client.put_object(Bucket=store.bucket, Key=f"{store.prefix}payloads/e/{digest}.json", Body=content)
    return Artifact(f"artifact:///payloads/e/{digest}.json", digest)


def resolve(artifacts, checkpoint):
    from trainyard_engine.resolver import CheckpointResolver  # vLLM takes seconds to import

    async def unload(name):
        raise AssertionError(f"{name} had to go")

    resolver = CheckpointResolver(open_store(artifacts), unload)
    return asyncio.run(resolver.resolve_lora("base", checkpoint.uri.rsplit("/", 1)[1])).lora_path


def test_jobs_continue_from_earlier_checkpoints_and_engines_find_them(train, load_model, s3_settings, tmp_path):
    first = train(s3_settings)
    assert first.failure is None
    # Another machine only has the bucket.
    elsewhere = replace(s3_settings, cache=tmp_path / "other-machine")
    second = train(elsewhere, first.checkpoint)
    assert second.failure is None
    engine = replace(s3_settings, cache=tmp_path / "engine")
    paths = [Path(resolve(engine, reports.checkpoint)) for reports in (first, second)]
    assert paths[0] != paths[1]
    assert all(path.parent == engine.cache and not (path / OPTIMIZER_STATE).exists() for path in paths)
    assert resolve(engine, second.checkpoint) == str(paths[1])
    saved = load_file(paths[1] / ADAPTER_WEIGHTS)
    loaded = load_model(paths[1]).state_dict()
    assert all((loaded[name.replace(".weight", ".default.weight")] == value).all() for name, value in saved.items())


def test_the_optimizer_continues_from_the_last_job(train, s3_settings, tmp_path):
    first = train(s3_settings)
    second = train(replace(s3_settings, cache=tmp_path / "other-machine"), first.checkpoint)
    steps = [read_steps(s3_settings, reports.checkpoint, tmp_path) for reports in (first, second)]
    assert steps == [{1.0}, {2.0}]


def read_steps(artifacts, checkpoint, tmp_path):
    path = tmp_path / "optimizer"
    path.write_bytes(open_store(artifacts).read(f"{checkpoint.uri}/{OPTIMIZER_STATE}"))
    return {value.item() for name, value in load_file(path).items() if name.endswith(".step")}


def test_a_missing_input_is_an_error_of_the_user_but_an_unavailable_store_is_not(train, s3_settings, monkeypatch):
    monkeypatch.setattr(job_module, "PAUSES", ())
    missing = train(s3_settings, stored=False).failure
    assert (missing["category"], missing["reason"], missing["retryable"]) == ("User", "InputUnusable", False)
    away = train(replace(s3_settings, endpoint="http://127.0.0.1:9"), stored=False).failure
    assert (away["reason"], away["retryable"]) == ("ArtifactStoreUnavailable", True)

"""Damaged checkpoints and saves, and stores that cannot be written: they are reported, and no partial file stays."""

import errno
import json
import os
import shutil
import threading

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from testing.interruption import check_same, check_store, describe_outcome
from testing.worker_jobs import ROWS, locate, offer_sft, shorten
from trainyard_artifacts.addresses import StoreUnavailable
from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, MANIFEST, OPTIMIZER_STATE
from trainyard_artifacts.files import digest_file
from trainyard_artifacts.store import FolderStore
from trainyard_trainer import job as job_module
from trainyard_trainer.compute.model import adapter_files
from trainyard_trainer.compute.model.adapter_files import save_tensors
from trainyard_trainer.failures import explain_failure
from trainyard_trainer.progress import PROGRESS


@pytest.mark.parametrize("name", [ADAPTER_WEIGHTS, ADAPTER_CONFIG, OPTIMIZER_STATE, MANIFEST])
def test_a_checkpoint_that_is_damaged_is_not_trained_on(status_server, run_jobs, name):
    before = offer_sft(status_server)
    run_jobs()
    start = {field: before.checkpoints[0][field] for field in ("uri", "digest")}
    path = locate(status_server, start) / name
    path.write_bytes(path.read_bytes()[:-1])
    job = offer_sft(status_server, from_checkpoint=start)
    (failure,) = run_jobs()
    assert shorten(failure) == ("Internal", "ArtifactDamaged", True)
    assert "an earlier step" in failure["message"]
    assert job.checkpoints == []


def test_a_checkpoint_with_invalid_contents_is_reported(status_server, run_jobs):
    before = offer_sft(status_server)
    run_jobs()
    folder = locate(status_server, before.checkpoints[0])
    (folder / ADAPTER_WEIGHTS).write_bytes(b"no tensors")
    start = before.checkpoints[0] | {"digest": write_manifest(folder)}
    offer_sft(status_server, from_checkpoint=start)
    (failure,) = run_jobs()
    assert shorten(failure) == ("Internal", "ArtifactDamaged", True)


def write_manifest(folder):
    files = {path.name: digest_file(path) for path in folder.iterdir() if path.name != MANIFEST}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return digest_file(folder / MANIFEST)


class Broken:
    """Replaces writes to a store, and raises what a file system would."""

    def __init__(self, monkeypatch, number, *, times=10**9):
        self.left = times
        write = FolderStore.write_folder

        def write_folder(store, uri, write_files, **options):
            def write_some(folder):
                write_files(folder)
                if self.left > 0:
                    self.left -= 1
                    raise OSError(number, os.strerror(number)) if number else StoreUnavailable("The store is away")

            write(store, uri, write_some, **options)

        monkeypatch.setattr(FolderStore, "write_folder", write_folder)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(errno.ENOSPC, ("Capacity", "StorageFull", True), id="full"),
        pytest.param(errno.EROFS, ("Internal", "ArtifactStoreUnavailable", True), id="read-only"),
        pytest.param(errno.EACCES, ("Internal", "ArtifactStoreUnavailable", True), id="forbidden"),
        pytest.param(0, ("Internal", "ArtifactStoreUnavailable", True), id="away"),
    ],
)
def test_a_store_that_cannot_be_written_is_reported_and_keeps_no_file(
    status_server, run_jobs, monkeypatch, number, expected
):
    monkeypatch.setattr(job_module, "PAUSES", (0.01,))
    Broken(monkeypatch, number)
    job = offer_sft(status_server, ROWS * 3)
    (failure,) = run_jobs(save_seconds=0.0)
    assert shorten(failure) == expected
    assert "store" in failure["message"]
    assert "progress cannot be saved" in "\n".join(job.lines)
    assert job.progress == job.checkpoints == []
    kept = [path for path in status_server.root.rglob("*") if path.is_file()]
    assert kept == [locate(status_server, job.claim["input"])]


def test_an_error_of_safetensors_about_the_disk_is_an_os_error(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        save_tensors({"a": torch.zeros(1)}, tmp_path / "nowhere" / ADAPTER_WEIGHTS, {})

    def save_file(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(adapter_files, "save_file", save_file)
    with pytest.raises(OSError, match="No space left") as caught:
        save_tensors({"a": torch.zeros(1)}, tmp_path / ADAPTER_WEIGHTS, {})
    assert explain_failure(caught.value).reason == "StorageFull"


def test_a_store_that_is_unavailable_for_a_while_only_delays(status_server, run_jobs, monkeypatch):
    monkeypatch.setattr(job_module, "PAUSES", (0.2, 0.2))
    Broken(monkeypatch, 0, times=1)
    job = offer_sft(status_server)
    away = status_server.root.with_name("away")
    status_server.root.rename(away)
    threading.Timer(0.1, lambda: away.rename(status_server.root)).start()
    assert run_jobs() == [None]
    assert "waiting for the artifact store" in "\n".join(job.lines)
    check_store(status_server.root)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: (folder / ADAPTER_WEIGHTS).write_bytes(b""), id="weights cut off"),
        pytest.param(lambda folder: shutil.rmtree(folder), id="gone"),
        pytest.param(lambda folder: (folder / PROGRESS).write_text("{"), id="no JSON"),
        pytest.param(lambda folder: (folder / PROGRESS).write_text('{"seed": "another"}'), id="another job's"),
        pytest.param(lambda folder: (folder / PROGRESS).unlink(), id="no word of how far it is"),
        pytest.param(lambda folder: change(folder, steps_taken=4), id="further than the job goes"),
        pytest.param(lambda folder: change(folder, steps="0" * 64), id="cut in other steps"),
        pytest.param(lambda folder: spoil(folder), id="weights of another shape"),
    ],
)
def test_damaged_progress_is_not_used(status_server, run_jobs, damage):
    rows = ROWS * 3
    claimed = {"id": "c0ffee00-0000-4000-8000-000000000001"}
    expected = offer_sft(status_server, rows, **claimed)
    run_jobs(save_seconds=0.0)
    assert [saved["step"] for saved in expected.progress] == [1, 2]
    job = offer_sft(status_server, rows, **claimed)
    saved = expected.progress[-1]
    folder = locate(status_server, saved)
    damage(folder)
    digest = write_manifest(folder) if folder.exists() else saved["digest"]
    job.progress.append(saved | {"digest": digest, "attempt": 0})
    assert run_jobs() == [None]
    assert "saved progress cannot be used, beginning anew" in "\n".join(job.lines)
    check_same(status_server, job, describe_outcome(status_server, expected))


def test_progress_is_not_used_by_a_trainer_with_other_rows(status_server, run_jobs):
    rows = [("Name all colours.", "Many. " * 200), *ROWS * 3]
    claimed = {"id": "c0ffee00-0000-4000-8000-000000000001"}
    longer = offer_sft(status_server, rows, **claimed)
    run_jobs(save_seconds=0.0)
    expected = offer_sft(status_server, rows, **claimed)
    run_jobs(max_length=200)
    job = offer_sft(status_server, rows, **claimed)
    job.progress.append(longer.progress[-1] | {"attempt": 0})
    assert run_jobs(max_length=200) == [None]
    assert "saved progress cannot be used, beginning anew" in "\n".join(job.lines)
    assert len(longer.events) == len(expected.events)
    check_same(status_server, job, describe_outcome(status_server, expected))


def change(folder, **fields):
    (folder / PROGRESS).write_text(json.dumps(json.loads((folder / PROGRESS).read_text()) | fields))


def spoil(folder):
    weights = load_file(folder / ADAPTER_WEIGHTS)
    save_tensors({name: torch.cat([tensor, tensor]) for name, tensor in weights.items()}, folder / ADAPTER_WEIGHTS, {})

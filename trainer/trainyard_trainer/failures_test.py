"""Whatever goes wrong with a job is told with a sentence to act on, and leaves nothing half-written."""

import errno
import json
import os
import shutil
import threading

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, MANIFEST, OPTIMIZER_STATE
from trainyard_artifacts.files import digest_file
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import FolderStore
from trainyard_trainer import job as job_module
from trainyard_trainer.compute import adapter_files, forward
from trainyard_trainer.compute.adapter_files import save_tensors
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.config import Settings
from trainyard_trainer.control_for_tests import write_rows
from trainyard_trainer.failures import explain_failure
from trainyard_trainer.jobs_for_tests import LORA, MODEL
from trainyard_trainer.progress import PROGRESS
from trainyard_trainer.survivors_for_tests import check_same, check_store
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


@pytest.fixture
def spare_memory(monkeypatch):
    """Passes of more tokens than `most` run out of memory. Gives the tokens of each pass that was tried."""

    def limit(most):
        tried, build = [], forward.build_layout

        def build_layout(examples, device):
            tried.append(sum(example.num_tokens for example in examples))
            if tried[-1] > most:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            return build(examples, device)

        monkeypatch.setattr(forward, "build_layout", build_layout)
        return tried

    return limit


def offer_sft(control, rows=ROWS, **claimed):
    return control.add("SFT", write_rows(rows), {"batch_size": 4, "learning_rate": 1e-3}, **claimed)


def locate(control, artifact):
    return control.root / artifact["uri"].removeprefix("artifact:///")


def read_weights(control, job):
    return load_file(locate(control, job.checkpoints[0]) / ADAPTER_WEIGHTS)


def shorten(failure):
    return failure["category"], failure["reason"], failure["retryable"]


def test_out_of_memory_is_tried_again_in_smaller_batches_with_the_same_result(control, work, spare_memory):
    usual = offer_sft(control)
    work()
    tried = spare_memory(100)
    job = offer_sft(control)
    assert work(Policy(160)) == [None]
    assert tried[0] > 100 >= max(tried[1:])
    assert "out of memory, trying again with smaller batches" in "\n".join(job.lines)
    losses = [each.events[1]["data"]["loss"] for each in (usual, job)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    for name, weights in read_weights(control, usual).items():
        torch.testing.assert_close(read_weights(control, job)[name], weights, rtol=1e-3, atol=1e-5)


def test_out_of_memory_while_scoring_is_tried_again_in_smaller_batches(control, work, spare_memory, make_choice):
    asked = {"role": "user", "content": "Name a colour."}
    trajectories = [
        {"messages_and_choices": [asked, make_choice("Red. " * 9)], "reward": float(reward)} for reward in (0, 1, 2, 3)
    ]
    groups = [{"trajectories": [each]} for each in trajectories] + [{"trajectories": trajectories}]
    content = json.dumps({"trajectory_groups": groups}).encode()
    tried = spare_memory(100)
    job = control.add("RL", content, {"precalculate_logprobs": True})
    assert work(Policy(160)) == [None]
    assert tried[0] > 100
    assert "out of memory" in "\n".join(job.lines)


def test_too_little_memory_for_smaller_batches_too_is_told_with_a_hint(control, work, spare_memory):
    tried = spare_memory(10)
    job = offer_sft(control)
    (failure,) = work(Policy(160))
    assert len(tried) == 2
    assert shorten(failure) == ("Capacity", "CudaOutOfMemory", True)
    assert "shorter trajectories" in failure["message"]
    assert job.checkpoints == []
    assert not (control.root / "checkpoints").exists()


def test_a_job_that_needs_too_much_memory_fails_without_those_that_it_was_computed_with(control, work, spare_memory):
    spare_memory(400)
    small = [offer_sft(control, ROWS * 8), offer_sft(control, ROWS * 8)]
    large = offer_sft(control, [("Name a colour.", "Red. " * 300)] * 4)
    assert [failure and failure["reason"] for failure in work(Policy(600, "Any"), max_jobs=3)] == [
        None,
        None,
        "CudaOutOfMemory",
    ]
    assert [len(job.checkpoints) for job in (*small, large)] == [1, 1, 0]


@pytest.mark.parametrize(
    ("method", "content", "sentence"),
    [
        pytest.param("RL", b"{", "The payload is not JSON", id="a payload that ends early"),
        pytest.param("RL", b"\xff\xfe{}", "The payload is not", id="a payload that is no UTF-8"),
        pytest.param("RL", b"[]", "payload must be an object", id="a payload that is a list"),
        pytest.param("SFT", b"{}\n", "Line 1 has no messages", id="a line without messages"),
        pytest.param("SFT", b'{"messages": \xff}', "Line 1 is not UTF-8", id="a line that is no UTF-8"),
        pytest.param("SFT", b"", "training data is empty", id="no line"),
    ],
)
def test_input_that_cannot_be_read_is_the_users_to_mend(control, work, method, content, sentence):
    control.add(method, content, {})
    (failure,) = work()
    assert (failure["category"], failure["retryable"]) == ("User", False)
    assert sentence in failure["message"]


def test_input_that_is_not_what_was_sent_is_refused(control, work):
    job = offer_sft(control)
    locate(control, job.claim["input"]).write_bytes(write_rows(ROWS[:1]))
    (failure,) = work()
    assert shorten(failure) == ("User", "InputUnusable", False)
    assert "has the digest" in failure["message"]


def test_a_loss_that_is_no_number_is_told(control, work, monkeypatch):
    monkeypatch.setattr(
        forward, "score_hidden", lambda head, hidden_N_D, targets_N, vocabulary: (hidden_N_D.sum(1) * torch.nan,) * 2
    )
    offer_sft(control)
    (failure,) = work()
    assert shorten(failure) == ("User", "Diverged", False)
    assert "lower the learning rate" in failure["message"]


@pytest.mark.parametrize("name", [ADAPTER_WEIGHTS, ADAPTER_CONFIG, OPTIMIZER_STATE, MANIFEST])
def test_a_checkpoint_that_is_damaged_is_not_trained_on(control, work, name):
    before = offer_sft(control)
    work()
    start = {field: before.checkpoints[0][field] for field in ("uri", "digest")}
    path = locate(control, start) / name
    path.write_bytes(path.read_bytes()[:-1])
    job = offer_sft(control, from_checkpoint=start)
    (failure,) = work()
    assert shorten(failure) == ("Internal", "ArtifactDamaged", True)
    assert "an earlier step" in failure["message"]
    assert job.checkpoints == []


def test_a_checkpoint_that_was_written_wrong_is_told_of(control, work):
    before = offer_sft(control)
    work()
    folder = locate(control, before.checkpoints[0])
    (folder / ADAPTER_WEIGHTS).write_bytes(b"no tensors")
    start = before.checkpoints[0] | {"digest": write_manifest(folder)}
    offer_sft(control, from_checkpoint=start)
    (failure,) = work()
    assert shorten(failure) == ("Internal", "ArtifactDamaged", True)


def write_manifest(folder):
    files = {path.name: digest_file(path) for path in folder.iterdir() if path.name != MANIFEST}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return digest_file(folder / MANIFEST)


class Broken:
    """Stands for writing files in a store: raises what a file system would."""

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
def test_a_store_that_cannot_be_written_is_told_of_and_keeps_nothing(control, work, monkeypatch, number, expected):
    monkeypatch.setattr(job_module, "PAUSES", (0.01,))
    Broken(monkeypatch, number)
    job = offer_sft(control, ROWS * 3)
    (failure,) = work(save_seconds=0.0)
    assert shorten(failure) == expected
    assert "store" in failure["message"]
    assert "progress cannot be saved" in "\n".join(job.lines)
    assert job.progress == job.checkpoints == []
    kept = [path for path in control.root.rglob("*") if path.is_file()]
    assert kept == [locate(control, job.claim["input"])]


def test_what_safetensors_say_of_a_disk_is_an_os_error(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        save_tensors({"a": torch.zeros(1)}, tmp_path / "nowhere" / ADAPTER_WEIGHTS, {})

    def save_file(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(adapter_files, "save_file", save_file)
    with pytest.raises(OSError, match="No space left") as caught:
        save_tensors({"a": torch.zeros(1)}, tmp_path / ADAPTER_WEIGHTS, {})
    assert explain_failure(caught.value).reason == "StorageFull"


def test_a_store_that_is_away_for_a_while_costs_nothing_but_time(control, work, monkeypatch):
    monkeypatch.setattr(job_module, "PAUSES", (0.2, 0.2))
    Broken(monkeypatch, 0, times=1)
    job = offer_sft(control)
    away = control.root.with_name("away")
    control.root.rename(away)
    threading.Timer(0.1, lambda: away.rename(control.root)).start()
    assert work() == [None]
    assert "waiting for the artifact store" in "\n".join(job.lines)
    check_store(control.root)


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
def test_saved_progress_that_is_damaged_is_not_gone_on_with(control, work, damage):
    rows = ROWS * 3
    claimed = {"id": "c0ffee00-0000-4000-8000-000000000001"}
    expected = offer_sft(control, rows, **claimed)
    work(save_seconds=0.0)
    assert [saved["step"] for saved in expected.progress] == [1, 2]
    job = offer_sft(control, rows, **claimed)
    saved = expected.progress[-1]
    folder = locate(control, saved)
    damage(folder)
    digest = write_manifest(folder) if folder.exists() else saved["digest"]
    job.progress.append(saved | {"digest": digest, "attempt": 0})
    assert work() == [None]
    assert "saved progress cannot be used, beginning anew" in "\n".join(job.lines)
    check_same(control, job, expected)


def test_progress_is_not_gone_on_with_by_a_trainer_that_takes_other_rows(control, work):
    rows = [("Name all colours.", "Many. " * 200), *ROWS * 3]
    claimed = {"id": "c0ffee00-0000-4000-8000-000000000001"}
    longer = offer_sft(control, rows, **claimed)
    work(save_seconds=0.0)
    expected = offer_sft(control, rows, **claimed)
    work(max_length=200)
    job = offer_sft(control, rows, **claimed)
    job.progress.append(longer.progress[-1] | {"attempt": 0})
    assert work(max_length=200) == [None]
    assert "saved progress cannot be used, beginning anew" in "\n".join(job.lines)
    assert len(longer.events) == len(expected.events)
    check_same(control, job, expected)


def change(folder, **fields):
    (folder / PROGRESS).write_text(json.dumps(json.loads((folder / PROGRESS).read_text()) | fields))


def spoil(folder):
    weights = load_file(folder / ADAPTER_WEIGHTS)
    save_tensors({name: torch.cat([tensor, tensor]) for name, tensor in weights.items()}, folder / ADAPTER_WEIGHTS, {})


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), ("Capacity", "CudaOutOfMemory", True)),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), ("Capacity", "StorageFull", True)),
        (StoreUnavailable("The artifact store does not answer"), ("Internal", "ArtifactStoreUnavailable", True)),
        (ArtifactError("artifact:///x is damaged"), ("Internal", "ArtifactDamaged", True)),
        (RuntimeError("what nobody foresaw"), ("Internal", "TrainerError", True)),
    ],
)
def test_every_fault_has_a_kind_and_a_sentence(cause, expected):
    failure = explain_failure(cause)
    assert (failure.category, failure.reason, failure.retryable) == expected
    assert failure.message[0].isupper() or failure.message.startswith("artifact")


def test_a_job_that_fails_touches_no_other_and_each_has_its_own_log(control, work):
    good = [offer_sft(control, ROWS * 10) for _ in range(2)]
    bad = [control.add("SFT", b"{", {}), control.add("RL", b'{"trajectory_groups": 1}', {})]
    failures = work(max_jobs=4)
    assert [failure and failure["category"] for failure in failures] == [None, None, "User", "User"]
    assert read_weights(control, good[0]).keys() == read_weights(control, good[1]).keys()
    for job in (*good, *bad):
        others = {other.claim["id"] for other in control.jobs.values()} - {job.claim["id"]}
        text = "\n".join(job.lines)
        assert job.lines[0].startswith(f"job claimed job={job.claim['id']}")
        assert f"job {'trained' if job in good else 'failed'} job={job.claim['id']}" in job.lines[-1]
        assert not any(other in text for other in others)


@pytest.mark.parametrize("method", ["backward", "open"])
def test_a_device_that_fails_ends_one_job_and_gives_the_others_back(control, work, turns, monkeypatch, method):
    jobs = [offer_sft(control, ROWS * 200) for _ in range(3)]
    whole, calls = getattr(turns.machine, method), []

    def fail(*args):
        calls.append(1)
        if len(calls) == 3:
            raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
        return whole(*args)

    monkeypatch.setattr(turns.machine, method, fail)
    failures = work(max_jobs=3)
    assert sorted(failure["reason"] for failure in failures if failure) == ["DeviceFailed"]
    assert sorted(job.state for job in jobs) == ["Failed", "Queued", "Queued"]
    assert len(calls) == 3


REMOTE = """
import pathlib
from transformers import LlamaConfig, LlamaForCausalLM
pathlib.Path({marker!r}).write_text("ran")
class StrangeConfig(LlamaConfig):
    model_type = "strange"
class Strange(LlamaForCausalLM):
    config_class = StrangeConfig
"""


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def strange_model(tmp_path, marker):
    """A model whose folder brings its own code."""
    folder = tmp_path / "strange"
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_text())
    code = {"AutoConfig": "strange.StrangeConfig", "AutoModelForCausalLM": "strange.Strange"}
    config |= {"model_type": "strange", "architectures": ["Strange"], "auto_map": code}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "strange.py").write_text(REMOTE.format(marker=str(marker)))
    return folder


def test_code_beside_a_model_is_not_run(start_trainer, strange_model, marker):
    trainer = start_trainer(TRAINYARD_MODEL=str(strange_model))
    assert trainer.wait() == 1
    assert not marker.exists()
    assert "trustRemoteCode" in trainer.log.read_text().splitlines()[-1]


def test_code_beside_a_model_is_run_where_the_base_model_trusts_it(
    control, start_trainer, strange_model, marker, tmp_path
):
    job = offer_sft(control)
    cache = {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HOME": str(tmp_path / "hf")}
    trainer = start_trainer(TRAINYARD_MODEL=str(strange_model), TRAINYARD_TRUST_REMOTE_CODE="true", **cache)
    control.wait_for(lambda: job.state == "Trained" or trainer.is_over())
    assert job.state == "Trained", trainer.log.read_text()
    assert marker.exists()


def pickle_weights(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        pytest.param(pickle_weights, "no file named model.safetensors", id="pickled weights only"),
        pytest.param(lambda folder: (folder / "config.json").unlink(), "Unrecognized model", id="no model"),
        pytest.param(shutil.rmtree, "Repo id", id="nothing there"),
        pytest.param(lambda folder: os.truncate(folder / "model.safetensors", 5000), "Error", id="weights cut off"),
    ],
)
def test_a_base_model_that_cannot_be_loaded_ends_the_process_with_one_line(start_trainer, tmp_path, damage, sentence):
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    damage(folder)
    trainer = start_trainer(TRAINYARD_MODEL=str(folder))
    assert trainer.wait() == 1
    *_, ended, last = trainer.log.read_text().splitlines()
    assert "trainer ends" in ended
    assert last.startswith(f"trainyard_trainer: the base model {folder} cannot be loaded: ")
    assert sentence in last
    assert "Traceback" not in trainer.log.read_text()

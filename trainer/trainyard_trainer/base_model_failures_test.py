"""Base models that cannot be loaded, or that contain code: one line of output, and only trusted code runs."""

import os
import shutil

import pytest
import torch
from safetensors.torch import load_file

from testing.jobs import MODEL
from testing.own_code import add_own_code
from testing.worker_jobs import offer_sft


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def strange_model(tmp_path, marker):
    """A model whose folder contains its own code."""
    folder = tmp_path / "strange"
    shutil.copytree(MODEL, folder)
    add_own_code(folder, marker)
    return folder


def test_code_beside_a_model_is_not_run(start_trainer, strange_model, marker):
    trainer = start_trainer(TRAINYARD_MODEL=str(strange_model))
    assert trainer.wait() == 1
    assert not marker.exists()
    assert "trustRemoteCode" in trainer.log.read_text().splitlines()[-1]


def test_code_beside_a_model_is_run_if_the_base_model_trusts_it(
    status_server, start_trainer, strange_model, marker, tmp_path
):
    job = offer_sft(status_server)
    cache = {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HOME": str(tmp_path / "hf")}
    trainer = start_trainer(TRAINYARD_MODEL=str(strange_model), TRAINYARD_TRUST_REMOTE_CODE="true", **cache)
    status_server.wait_for(lambda: job.state == "Trained" or trainer.is_over())
    assert job.state == "Trained", trainer.log.read_text()
    assert marker.exists()


def test_a_trainer_trains_the_pinned_commit_and_runs_its_code(
    hub, status_server, start_trainer, strange_model, marker, tmp_path
):
    first = hub.push(strange_model)
    broken = tmp_path / "second"
    shutil.copytree(strange_model, broken)
    for name in ("strange.py", "model.safetensors", "tokenizer.json"):
        (broken / name).write_text("broken")
    hub.push(broken)
    job = offer_sft(status_server)
    trainer = start_trainer(
        main="testing.model_hub:run_trainer",
        HF_ENDPOINT=hub.address,
        HF_HUB_CACHE=str(tmp_path / "hub"),
        HF_MODULES_CACHE=str(tmp_path / "modules"),
        TRAINYARD_MODEL="org/strange",
        TRAINYARD_MODEL_REVISION=first,
        TRAINYARD_TRUST_REMOTE_CODE="true",
    )
    status_server.wait_for(lambda: job.state == "Trained" or trainer.is_over())
    assert job.state == "Trained", trainer.log.read_text()
    assert marker.exists()


def test_a_trainer_of_a_gated_model_says_so(hub, start_trainer, strange_model, tmp_path):
    commit = hub.push(strange_model)
    hub.gated = True
    trainer = start_trainer(
        main="testing.model_hub:run_trainer",
        HF_ENDPOINT=hub.address,
        HF_HUB_CACHE=str(tmp_path / "hub"),
        TRAINYARD_MODEL="org/strange",
        TRAINYARD_MODEL_REVISION=commit,
    )
    assert trainer.wait() == 1
    assert trainer.log.read_text().splitlines()[-1].startswith("trainyard_trainer: GatedModel: The model org/strange")


def test_a_trainer_whose_pod_asks_for_gpus_does_not_compute_on_the_processor(start_trainer):
    trainer = start_trainer(TRAINYARD_GPUS="2", CUDA_VISIBLE_DEVICES="")
    assert trainer.wait() == 1
    assert (
        trainer.log.read_text()
        .splitlines()[-1]
        .startswith("trainyard_trainer: NoGpuVisible: The pod asks for GPUs (2)")
    )


def pickle_weights(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        pytest.param(pickle_weights, "no file named model.safetensors", id="pickled weights only"),
        pytest.param(lambda folder: (folder / "config.json").unlink(), "Unrecognized model", id="no model"),
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


def test_a_base_model_that_is_neither_a_folder_nor_a_name_is_explained(start_trainer, tmp_path):
    trainer = start_trainer(TRAINYARD_MODEL=str(tmp_path / "nothing"))
    assert trainer.wait() == 1
    assert trainer.log.read_text().splitlines()[-1].startswith("trainyard_trainer: ModelNotFound: The model ")

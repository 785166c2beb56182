"""Base models that cannot be loaded, or that contain code: one line of output, and only trusted code runs."""

import json
import os
import shutil

import pytest
import torch
from safetensors.torch import load_file

from testing.jobs import MODEL
from testing.worker_jobs import offer_sft

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
    """A model whose folder contains its own code."""
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


def test_code_beside_a_model_is_run_if_the_base_model_trusts_it(
    status_server, start_trainer, strange_model, marker, tmp_path
):
    job = offer_sft(status_server)
    cache = {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HOME": str(tmp_path / "hf")}
    trainer = start_trainer(TRAINYARD_MODEL=str(strange_model), TRAINYARD_TRUST_REMOTE_CODE="true", **cache)
    status_server.wait_for(lambda: job.state == "Trained" or trainer.is_over())
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

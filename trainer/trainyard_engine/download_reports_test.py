"""An engine tells the status server how far the download of its base model is."""

import os
from typing import NoReturn

from testing.model_hub import use_hub
from trainyard_engine.__main__ import fetch_model
from trainyard_engine.config import read_settings


def fetch() -> NoReturn:
    use_hub()
    fetch_model(read_settings())
    os._exit(0)


def test_an_engine_tells_how_far_its_download_is(fork_server, hub, status_server, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{}")
    (folder / "model.safetensors").write_bytes(b"w" * 100_000)
    (tmp_path / "token").write_text("a-token")
    variables = {
        "HF_ENDPOINT": hub.address,
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "TRAINYARD_MODEL": "org/model",
        "TRAINYARD_MODEL_REVISION": hub.push(folder),
        "TRAINYARD_MODEL_NAMES": "model",
        "TRAINYARD_ARTIFACTS": str(tmp_path),
        "VLLM_API_KEY": "key",
        "TRAINYARD_STATUS_URL": status_server.url,
        "TRAINYARD_TOKEN_FILE": str(tmp_path / "token"),
    }
    engine = fork_server.start(variables, tmp_path / "log", f"{__name__}:fetch")
    assert engine.wait() == 0, engine.log.read_text()
    reports = status_server.of_base_models["download-progress"]
    assert reports[-1] == {"done_bytes": 100_002, "total_bytes": 100_002}

"""An engine tells the status server how far the download of its base model is."""

import os
import subprocess
import sys
from pathlib import Path

FETCH = """
from trainyard_engine.__main__ import fetch_model
from trainyard_engine.config import read_settings
print(fetch_model(read_settings()).model)
"""
TRAINER = Path(__file__).parents[1]


def test_an_engine_tells_how_far_its_download_is(hub, status_server, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{}")
    (folder / "model.safetensors").write_bytes(b"w" * 100_000)
    (tmp_path / "token").write_text("a-token")
    variables = {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "0",
        "TRAINYARD_MODEL": "org/model",
        "TRAINYARD_MODEL_REVISION": hub.push(folder),
        "TRAINYARD_MODEL_NAMES": "model",
        "TRAINYARD_ARTIFACTS": str(tmp_path),
        "VLLM_API_KEY": "key",
        "TRAINYARD_STATUS_URL": status_server.url,
        "TRAINYARD_TOKEN_FILE": str(tmp_path / "token"),
    }
    command = [sys.executable, "-c", FETCH]
    subprocess.run(command, env=os.environ | variables, check=True, cwd=TRAINER)
    reports = status_server.of_base_models["download-progress"]
    assert reports[-1] == {"done_bytes": 100_002, "total_bytes": 100_002}

"""Engines whose base model is a folder in a bucket."""

import os

from testing.stores import BUCKET


def test_a_base_model_that_cannot_be_fetched_ends_the_engine_with_one_line(fork_server, s3_endpoint, tmp_path):
    model = f"s3://{BUCKET}/models/none"
    variables = {
        "TRAINYARD_MODEL": model,
        "TRAINYARD_MODEL_NAMES": "a",
        "TRAINYARD_MODEL_CACHE": str(tmp_path / "cache"),
        "TRAINYARD_MODEL_S3_ENDPOINT": s3_endpoint,
        "TRAINYARD_ARTIFACTS": str(tmp_path),
        "VLLM_API_KEY": "a key",
    }
    engine = fork_server.start(os.environ | variables, tmp_path / "log", "trainyard_engine.__main__:main")
    sentence = "the folder is empty or missing"
    assert engine.wait() == 1
    last = engine.log.read_text().splitlines()[-1]
    assert last == f"trainyard_engine: DownloadFailed: The model {model} cannot be downloaded: {sentence}"

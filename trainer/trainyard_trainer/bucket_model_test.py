"""Trainers whose base model is a folder in a bucket."""

import os
from uuid import uuid4

import pytest

from testing.jobs import MODEL
from testing.stores import BUCKET
from testing.worker_jobs import offer_sft
from trainyard_artifacts.s3_store import connect
from trainyard_artifacts.settings import StoreSettings


@pytest.fixture
def bucket(s3_endpoint, tmp_path):
    """The variables of a trainer for a folder in a bucket, and that folder."""
    prefix = f"models/{uuid4()}"
    variables = {
        "TRAINYARD_MODEL": f"s3://{BUCKET}/{prefix}",
        "TRAINYARD_MODEL_CACHE": str(tmp_path / "cache"),
        "TRAINYARD_MODEL_S3_ENDPOINT": s3_endpoint,
        "TRAINYARD_MODEL_S3_ACCESS_KEY_ID": os.environ["AWS_ACCESS_KEY_ID"],
        "TRAINYARD_MODEL_S3_SECRET_ACCESS_KEY": os.environ["AWS_SECRET_ACCESS_KEY"],
    }
    return variables, prefix


def test_a_trainer_trains_a_base_model_of_a_bucket(status_server, start_trainer, s3_endpoint, bucket):
    variables, prefix = bucket
    client = connect(StoreSettings(f"s3://{BUCKET}", s3_endpoint))
    for path in MODEL.iterdir():
        client.upload_file(str(path), BUCKET, f"{prefix}/{path.name}")
    job = offer_sft(status_server)
    trainer = start_trainer(**variables)
    status_server.wait_for(lambda: job.state == "Trained" or trainer.is_over())
    assert job.state == "Trained", trainer.log.read_text()


def test_a_base_model_that_cannot_be_fetched_ends_the_process_with_one_line(start_trainer, bucket):
    variables, _ = bucket
    trainer = start_trainer(**variables)
    assert trainer.wait() == 1
    last = trainer.log.read_text().splitlines()[-1]
    address = variables["TRAINYARD_MODEL"]
    sentence = "the folder is empty or missing"
    assert last == f"trainyard_trainer: DownloadFailed: The model {address} cannot be downloaded: {sentence}"

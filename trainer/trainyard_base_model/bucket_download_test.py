"""Base models in a bucket, on a real S3 server."""

import errno
import fcntl
import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from testing.stores import BUCKET
from trainyard_artifacts.s3_store import connect
from trainyard_artifacts.settings import StoreSettings
from trainyard_base_model import bucket_download, pieces
from trainyard_base_model.bucket_model import BucketModel, read_bucket_model
from trainyard_base_model.download_progress import DownloadProgress
from trainyard_base_model.start_failure import StartFailure

FILES = {"config.json": b"{}", "model.safetensors": b"w" * 1000, "sub/code.py": b"pass"}


@pytest.fixture
def client(s3_endpoint):
    return connect(StoreSettings(f"s3://{BUCKET}", s3_endpoint))


@pytest.fixture
def model(s3_endpoint, client, tmp_path):
    """A model of three files in a folder of its own, with credentials that AWS's variables do not have."""
    prefix = f"models/{uuid4()}"
    put(client, prefix, FILES)
    key = (os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    return BucketModel(f"s3://{BUCKET}/{prefix}", s3_endpoint, None, *key, cache=tmp_path / "cache")


def fetch_bucket_model(model, report=lambda *_: None):
    return bucket_download.fetch_bucket_model(model, DownloadProgress(report))


def prefix_of(model):
    return model.uri.removeprefix(f"s3://{BUCKET}/")


def put(client, prefix, files):
    for name, content in files.items():
        client.put_object(Bucket=BUCKET, Key=f"{prefix}/{name}", Body=content)


def read_all(folder: Path):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_model_is_fetched_once_with_its_own_credentials(model, client, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the artifact store")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the artifact store")
    folder = fetch_bucket_model(model)
    assert read_all(folder) == FILES
    for name in FILES:
        client.delete_object(Bucket=BUCKET, Key=f"{prefix_of(model)}/{name}")
    assert fetch_bucket_model(model) == folder


def test_a_cache_holds_several_models(model, client):
    other = replace(model, uri=f"{model.uri}-other")
    put(client, prefix_of(other), FILES | {"config.json": b'{"a": 1}'})
    assert read_all(fetch_bucket_model(model))["config.json"] == b"{}"
    assert read_all(fetch_bucket_model(other))["config.json"] == b'{"a": 1}'


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "empty or missing"),
        ({"model.safetensors": b"w"}, "no config.json"),
        ({"config.json": b"{}", "model.bin": b"w"}, "no *.safetensors"),
        (
            FILES | {"model.safetensors.index.json": json.dumps({"weight_map": {"a": "part-2.safetensors"}}).encode()},
            "names part-2.safetensors, which is not there",
        ),
        (FILES | {"model.safetensors.index.json": b"[]"}, "is not an index of weights"),
    ],
)
def test_a_model_that_is_not_complete_is_not_used(model, client, files, reason):
    incomplete = replace(model, uri=f"s3://{BUCKET}/{uuid4()}")
    put(client, prefix_of(incomplete), files)
    with pytest.raises(StartFailure, match=reason.replace("*", r"\*")) as raised:
        fetch_bucket_model(incomplete)
    assert incomplete.uri in str(raised.value)
    # It is looked at again when the rest is there.
    put(
        client,
        prefix_of(incomplete),
        FILES | {"part-2.safetensors": b"x", "model.safetensors.index.json": b'{"weight_map": {}}'},
    )
    fetch_bucket_model(incomplete)


def test_a_wrong_key_is_told_without_the_key(model):
    with pytest.raises(StartFailure, match="refuses") as raised:
        fetch_bucket_model(replace(model, secret_access_key="secret-value"))
    assert "secret-value" not in str(raised.value)


def test_an_interrupted_download_goes_on_and_replaces_what_has_changed(model, client, monkeypatch):
    fetched: list[str] = []

    def fail_at_code(name):
        fetched.append(name)
        return name == "sub/code.py"

    interrupt(monkeypatch, fail_at_code)
    with pytest.raises(StartFailure, match="interrupted"):
        fetch_bucket_model(model)
    assert fetched == ["config.json", "model.safetensors", "sub/code.py"]
    fetched.clear()
    monkeypatch.undo()
    interrupt(monkeypatch, lambda name: fetched.append(name))
    put(client, prefix_of(model), {"config.json": b'{"new": 1}'})
    assert read_all(fetch_bucket_model(model)) == FILES | {"config.json": b'{"new": 1}'}
    assert fetched == ["config.json", "sub/code.py"]


def interrupt(monkeypatch, fails):
    """Lets downloads fail for which `fails` is true."""
    make = boto3.client

    def build(*args, **kwargs):
        client = make(*args, **kwargs)
        download = client.download_file

        def wrapped(bucket, key, path, **options):
            name = path.partition(".partial/")[2]
            if fails(name):
                raise OSError("interrupted")
            download(bucket, key, path, **options)

        client.download_file = wrapped
        return client

    monkeypatch.setattr("trainyard_artifacts.s3_store.boto3.client", build)


def test_files_that_change_during_the_download_are_not_used(model, client, monkeypatch):
    replaced = {"model.safetensors": b"v" * 1000}
    interrupt(monkeypatch, lambda name: put(client, prefix_of(model), replaced) if name == "sub/code.py" else False)
    with pytest.raises(StartFailure, match="changed while they were downloaded"):
        fetch_bucket_model(model)
    monkeypatch.undo()
    assert read_all(fetch_bucket_model(model)) == FILES | replaced


def fetch_slowly(model, started):
    """Fills the cache in a process, and takes its time with the last file."""
    make = boto3.client

    def build(*args, **kwargs):
        client = make(*args, **kwargs)
        download = client.download_file

        def wrapped(bucket, key, path, **options):
            with (model.cache / "downloads.txt").open("a") as log:
                log.write(f"{key}\n")
            started.set()
            time.sleep(0.3)
            download(bucket, key, path, **options)

        client.download_file = wrapped
        return client

    boto3.client = build
    fetch_bucket_model(model)


def raise_no_flock(*_):
    raise OSError(errno.ENOSYS, "no flock here")


@pytest.mark.parametrize("flock", [fcntl.flock, raise_no_flock], ids=["with flock", "without flock"])
def test_pods_that_share_a_cache_download_once(model, monkeypatch, flock):
    monkeypatch.setattr(fcntl, "flock", flock)  # the processes below are forked
    context = multiprocessing.get_context("fork")
    started = context.Event()
    pods = [context.Process(target=fetch_slowly, args=(model, started)) for _ in range(3)]
    for pod in pods:
        pod.start()
    for pod in pods:
        pod.join(30)
    assert [pod.exitcode for pod in pods] == [0, 0, 0]
    assert len((model.cache / "downloads.txt").read_text().splitlines()) == len(FILES)


def test_a_pod_that_is_killed_does_not_keep_others_waiting(model):
    context = multiprocessing.get_context("fork")
    started = context.Event()
    pod = context.Process(target=fetch_slowly, args=(model, started))
    pod.start()
    assert started.wait(30)
    os.kill(pod.pid or 0, signal.SIGKILL)
    pod.join(30)
    assert read_all(fetch_bucket_model(model)) == FILES


PIECE = 1 << 20
LARGE = FILES | {"model.safetensors": os.urandom(12 * PIECE + 5)}


@pytest.fixture
def large_model(model, client, monkeypatch):
    """A model whose weights have 13 pieces."""
    put(client, prefix_of(model), LARGE)
    monkeypatch.setattr(pieces, "PIECE_BYTES", PIECE)
    monkeypatch.setattr(bucket_download, "PIECE_BYTES", PIECE)
    monkeypatch.setattr(pieces, "CONCURRENCY", 2)
    return model


def count_pieces(monkeypatch, before=lambda: None):
    """The ranges of the weights that are asked."""
    ranges: list[str] = []
    make = boto3.client

    def build(*args, **kwargs):
        client = make(*args, **kwargs)
        get_object = client.get_object

        def wrapped(**asked):
            before()
            if asked["Key"].endswith(".safetensors"):
                ranges.append(asked["Range"])
            return get_object(**asked)

        client.get_object = wrapped
        return client

    monkeypatch.setattr("trainyard_artifacts.s3_store.boto3.client", build)
    return ranges


def fetch_until_killed(model, monkeypatch, started):
    count_pieces(monkeypatch, lambda: (time.sleep(0.2), started.set()))
    fetch_bucket_model(model)


def test_a_process_continues_the_large_file_of_one_that_was_killed(large_model, monkeypatch):
    context = multiprocessing.get_context("fork")
    started = context.Event()
    pod = context.Process(target=fetch_until_killed, args=(large_model, monkeypatch, started))
    pod.start()
    assert started.wait(30)
    wait_for(lambda: any(len(file.read_bytes().split()) >= 4 for file in large_model.cache.rglob("*.pieces")))
    os.kill(pod.pid or 0, signal.SIGKILL)
    pod.join(30)
    seen: list[tuple[int, int]] = []
    ranges = count_pieces(monkeypatch)
    assert read_all(fetch_bucket_model(large_model, lambda *counts: seen.append(counts))) == LARGE
    assert 0 < len(ranges) <= 9
    assert seen[-1] == (sum(map(len, LARGE.values())),) * 2


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_pieces_of_another_version_are_not_used(large_model, client, monkeypatch):
    asked: list[str] = []

    def fail_at_last():
        asked.append("")
        if len(asked) == 8:
            raise OSError("interrupted")

    count_pieces(monkeypatch, fail_at_last)
    with pytest.raises(StartFailure, match="interrupted"):
        fetch_bucket_model(large_model)
    replaced = LARGE | {"model.safetensors": os.urandom(12 * PIECE + 5)}
    put(client, prefix_of(large_model), replaced)
    ranges = count_pieces(monkeypatch)
    assert read_all(fetch_bucket_model(large_model)) == replaced
    assert len(ranges) == 13


def test_settings_come_from_the_environment():
    env = {
        "TRAINYARD_MODEL_CACHE": "/cache/models",
        "TRAINYARD_MODEL_S3_ENDPOINT": "http://s3:9000",
        "TRAINYARD_MODEL_S3_REGION": "eu-1",
        "TRAINYARD_MODEL_S3_ACCESS_KEY_ID": "id",
        "TRAINYARD_MODEL_S3_SECRET_ACCESS_KEY": "key",
    }
    expected = BucketModel("s3://models/qwen", "http://s3:9000", "eu-1", "id", "key", Path("/cache/models"))
    assert read_bucket_model("s3://models/qwen", env) == expected
    assert read_bucket_model("models/tiny", env) is None

"""The policies of docs/artifact-store.md let engines and trainers do what they must, and nothing else."""

import io
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from testing.stores import find_free_port, wait_for_port
from trainyard_artifacts.addresses import ArtifactMissing, StoreForbidden
from trainyard_artifacts.checkpoints import fetch_checkpoint, locate_checkpoint, locate_progress, write_checkpoint
from trainyard_artifacts.s3_store import PART_BYTES, S3Store
from trainyard_artifacts.settings import StoreSettings

PAGE = Path(__file__).parents[2] / "docs" / "artifact-store.md"
BUCKET, PREFIX = "artifacts", "a/b"
PAYLOAD, DATA, TRACE, UPLOAD, MARK = (
    f"artifact:///{key}"
    for key in ("payloads/e/d.json", "artifacts/e/d", "traces/e/1/calls/c", "uploads/e/d/0", "installations/1.json")
)


@dataclass
class Keys:
    """Opens the store as its owner, an engine or a trainer."""

    endpoint: str
    folder: Path
    secrets: dict[str, str]
    patch: pytest.MonkeyPatch

    def open(self, who: str) -> S3Store:
        self.patch.setattr(boto3, "DEFAULT_SESSION", None)
        self.patch.setenv("AWS_ACCESS_KEY_ID", who)
        self.patch.setenv("AWS_SECRET_ACCESS_KEY", self.secrets[who])
        return S3Store(StoreSettings(f"s3://{BUCKET}/{PREFIX}", self.endpoint, cache=self.folder / who))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """A server with accounts of an engine and of a trainer."""
    program = os.environ.get("TRAINYARD_TEST_S3_SERVER")
    if not program:
        pytest.skip("TRAINYARD_TEST_S3_SERVER names no S3 server")
    root = tmp_path_factory.mktemp("s3")
    for name in ("metadata", f"buckets/{BUCKET}", "accounts"):
        (root / name).mkdir(parents=True)
    secrets = {who: str(uuid4()) for who in ("owner", "engine", "trainer")}
    accounts = {who: {"access": who, "secret": secrets[who], "role": "user"} for who in ("engine", "trainer")}
    (root / "accounts" / "users.json").write_text(json.dumps({"accessAccounts": accounts}))
    port = find_free_port()
    options = ["--port", f"127.0.0.1:{port}", "--keep-alive", "--quiet", "--iam-dir", root / "accounts"]
    command = [program, *options, "posix", "--sidecar", root / "metadata", root / "buckets"]
    owner = {"ROOT_ACCESS_KEY": "owner", "ROOT_SECRET_KEY": secrets["owner"]}
    with subprocess.Popen(command, env=owner, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield f"http://127.0.0.1:{port}", secrets
        finally:
            process.kill()


@pytest.fixture
def keys(server: tuple[str, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keys:
    """The bucket's policy joins those of the page, because this server has no policies of users."""
    endpoint, secrets = server
    keys = Keys(endpoint, tmp_path, secrets, monkeypatch)
    policies = read_policies()
    statements = [
        {**statement, "Principal": {"AWS": who}}
        for who, policy in policies.items()
        for statement in policy["Statement"]
    ]
    owner = keys.open("owner")
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    owner.client.put_bucket_policy(Bucket=BUCKET, Policy=document)
    return keys


def read_policies() -> dict[str, dict]:
    engine, trainer = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    named = {"engine": engine, "trainer": trainer}
    return {who: json.loads(text.replace("BUCKET", BUCKET).replace("PREFIX", PREFIX)) for who, text in named.items()}


def write_files(folder: Path) -> None:
    for name in ("adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors"):
        (folder / name).write_bytes(b"{}")


def make_checkpoint(store: S3Store) -> str:
    uri = locate_checkpoint(str(uuid4()))
    write_checkpoint(store, uri, write_files, cached=False)
    return uri


def put(store: S3Store, *uris: str) -> None:
    for uri in uris:
        store.write_file(uri, io.BytesIO(b"{}"))


def test_a_trainer_reads_its_data_and_writes_what_jobs_leave(keys: Keys):
    put(keys.open("owner"), PAYLOAD, DATA)
    trainer = keys.open("trainer")
    assert [trainer.read(uri) for uri in (PAYLOAD, DATA)] == [b"{}", b"{}"]
    for uri in (make_checkpoint(trainer), locate_progress(str(uuid4()))):
        if "progress" in uri:
            write_checkpoint(trainer, uri, write_files, cached=False)
        assert fetch_checkpoint(trainer, uri, optional=["optimizer.safetensors"]).is_dir()
    statistics = f"artifact:///token-statistics/{uuid4()}.parquet"
    # In several parts.
    trainer.write_file(statistics, io.BytesIO(bytes(PART_BYTES + 1)))
    assert trainer.has(statistics)
    trainer.remove(statistics)
    assert not trainer.has(statistics)


def test_an_engine_reads_checkpoints(keys: Keys):
    uri = make_checkpoint(keys.open("trainer"))
    assert fetch_checkpoint(keys.open("engine"), uri).is_dir()


@pytest.mark.parametrize("who", ["engine", "trainer"])
def test_a_missing_checkpoint_is_not_a_forbidden_one(keys: Keys, who: str):
    store = keys.open(who)
    with pytest.raises(ArtifactMissing):
        fetch_checkpoint(store, locate_checkpoint(str(uuid4())))
    uri = make_checkpoint(keys.open("trainer"))
    keys.open("owner").remove(f"{uri}/optimizer.safetensors")
    assert not store.has(f"{uri}/optimizer.safetensors")
    with pytest.raises(ArtifactMissing):
        store.read(f"{uri}/optimizer.safetensors")


def test_a_missing_object_that_may_not_be_read_is_missing(keys: Keys):
    """As of any missing object in Amazon's S3, whose answer is the same as for a forbidden one."""
    trainer = keys.open("trainer")
    uri = f"artifact:///token-statistics/{uuid4()}.parquet"
    with pytest.raises(ArtifactMissing):
        trainer.read(uri)
    put(trainer, uri)
    with pytest.raises(StoreForbidden):
        trainer.read(uri)


def list_all(store: S3Store) -> None:
    store.client.list_objects_v2(Bucket=BUCKET)


FORBIDDEN: dict[str, list[Callable[[S3Store, str], object]]] = {
    "engine": [
        lambda store, _: store.read(PAYLOAD),
        lambda store, _: store.read(DATA),
        lambda store, uri: store.write_file(f"{uri}/more.json", io.BytesIO(b"{}")),
    ],
    "trainer": [
        lambda store, _: put(store, PAYLOAD),
        lambda store, _: put(store, DATA),
    ],
    "both": [
        lambda store, _: store.read(TRACE),
        lambda store, _: store.read(UPLOAD),
        lambda store, _: store.read(MARK),
        lambda store, _: put(store, MARK),
        lambda store, uri: store.remove(f"{uri}/manifest.json"),
        lambda store, _: store.remove(PAYLOAD),
    ],
}


@pytest.mark.parametrize("who", ["engine", "trainer"])
def test_everything_else_is_forbidden(keys: Keys, who: str):
    owner = keys.open("owner")
    put(owner, PAYLOAD, DATA, TRACE, UPLOAD, MARK)
    uri = make_checkpoint(owner)
    store = keys.open(who)
    for attempt in [*FORBIDDEN[who], *FORBIDDEN["both"]]:
        with pytest.raises(StoreForbidden):
            attempt(store, uri)
    with pytest.raises(store.client.exceptions.ClientError, match="AccessDenied"):
        list_all(store)

import hashlib
import io
import json
from pathlib import Path

import pytest

from trainyard_artifacts.addresses import ArtifactError, ArtifactMissing, StoreUnavailable, parse_key
from trainyard_artifacts.checkpoints import (
    OPTIMIZER_STATE,
    fetch_checkpoint,
    is_checkpoint_id,
    locate_checkpoint,
    write_checkpoint,
)
from trainyard_artifacts.settings import StoreSettings, StoreSettingsError, read_store_settings
from trainyard_artifacts.store import open_store

ID = "0af1bed4-69fa-474f-be16-a18cc731a38f"
URI = f"artifact:///checkpoints/{ID}"
CONTENT = b"{}"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Objects:
    """Direct access to the objects of either kind of store, without the store's own checks."""

    def __init__(self, settings, store):
        self.store = store
        self.root = Path(settings.address) if store.cache is None else None

    def put(self, key, content):
        if self.root is None:
            self.store.client.put_object(Bucket=self.store.bucket, Key=self.store.prefix + key, Body=content)
        else:
            (self.root / key).parent.mkdir(parents=True, exist_ok=True)
            (self.root / key).write_bytes(content)

    def remove(self, key):
        if self.root is None:
            self.store.client.delete_object(Bucket=self.store.bucket, Key=self.store.prefix + key)
        else:
            (self.root / key).unlink()

    def list(self):
        if self.root is not None:
            return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())
        page = self.store.client.list_objects_v2(Bucket=self.store.bucket, Prefix=self.store.prefix)
        return sorted(item["Key"].removeprefix(self.store.prefix) for item in page.get("Contents", []))


@pytest.fixture
def store(store_settings):
    return open_store(store_settings)


@pytest.fixture
def objects(store_settings, store):
    return Objects(store_settings, store)


def write_files(folder):
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    (folder / "adapter_config.json").write_bytes(CONTENT)
    (folder / OPTIMIZER_STATE).write_bytes(b"momentum")


def read_folder(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}


@pytest.mark.parametrize(
    "uri",
    ["/etc/passwd", "file:///x", "artifact:////etc", "artifact:///../x", "artifact:///a/../b", "artifact:///.x", ""],
)
def test_an_address_cannot_lead_out_of_the_store(uri):
    with pytest.raises(ArtifactError, match="is not an address"):
        parse_key(uri)


def test_bytes_are_read_only_with_the_right_digest(store, objects):
    objects.put("payloads/x.json", CONTENT)
    assert store.read("artifact:///payloads/x.json", DIGEST) == CONTENT
    assert store.fetch("artifact:///payloads/x.json", DIGEST).read_bytes() == CONTENT
    for read in (store.read, store.fetch):
        with pytest.raises(ArtifactError, match="has the digest"):
            read("artifact:///payloads/x.json", "0" * 64)
        with pytest.raises(ArtifactMissing, match="not in the artifact store"):
            read("artifact:///payloads/y.json", "1" * 64)


def test_a_checkpoint_is_written_with_its_manifest(store, objects):
    digest = write_checkpoint(store, uri := locate_checkpoint(ID), write_files)
    names = ("adapter_config.json", "adapter_model.safetensors", "manifest.json", "optimizer.safetensors")
    assert objects.list() == [f"checkpoints/{ID}/{name}" for name in names]
    manifest = store.read(f"{URI}/manifest.json")
    assert (uri, digest) == (URI, hashlib.sha256(manifest).hexdigest())
    assert json.loads(manifest)["files"]["adapter_config.json"] == DIGEST


def test_a_checkpoint_is_fetched_as_it_was_written(store):
    digest = write_checkpoint(store, uri := locate_checkpoint(ID), write_files)
    weights = {"adapter_model.safetensors": b"weights", "adapter_config.json": CONTENT}
    everything = weights | {OPTIMIZER_STATE: b"momentum"}
    served, whole = fetch_checkpoint(store, uri), fetch_checkpoint(store, uri, digest, [OPTIMIZER_STATE])
    assert read_folder(whole) == everything
    assert read_folder(served) == (weights if store.cache else everything)  # a folder is used in place


def test_a_removed_optimizer_state_is_no_error(store, objects):
    digest = write_checkpoint(store, uri := locate_checkpoint(ID), write_files)
    objects.remove(f"checkpoints/{ID}/{OPTIMIZER_STATE}")
    assert OPTIMIZER_STATE not in read_folder(fetch_checkpoint(store, uri, digest, [OPTIMIZER_STATE]))


def test_a_checkpoint_that_cannot_be_written_leaves_nothing(store, objects):
    def fail(folder):
        write_files(folder)
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_checkpoint(store, locate_checkpoint(ID), fail)
    assert objects.list() == []
    if store.cache:
        assert list(store.cache.root.iterdir()) == []


def test_a_checkpoint_is_never_written_twice(store, objects):
    write_checkpoint(store, locate_checkpoint(ID), write_files)
    with pytest.raises((ArtifactError, OSError)):
        write_checkpoint(
            store, locate_checkpoint(ID), lambda folder: (folder / "adapter_model.safetensors").write_bytes(b"other")
        )
    assert store.read(f"{URI}/adapter_model.safetensors") == b"weights"
    assert len(objects.list()) == 4


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda objects, key: objects.put(f"{key}/adapter_config.json", b"[]"), "is damaged"),
        (lambda objects, key: objects.remove(f"{key}/adapter_config.json"), "is damaged"),
        (lambda objects, key: objects.remove(f"{key}/manifest.json"), "not in the artifact store"),
        (lambda objects, key: objects.put(f"{key}/manifest.json", b'{"files": {}}'), "is damaged"),
    ],
)
def test_damage_is_detected(store_settings, store, objects, damage, message):
    digest = write_checkpoint(store, locate_checkpoint(ID), write_files)
    damage(objects, f"checkpoints/{ID}")
    if store.cache:  # what was fetched before stays valid
        store.cache.max_bytes = 0
        for folder in store.cache.list_folders():
            store.cache.remove(folder)
    with pytest.raises(ArtifactError, match=message):
        fetch_checkpoint(store, URI, digest)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [(b"no JSON", "no readable manifest"), (b'{"files": []}', "no readable manifest"), (b'{"files": {}}', "has no ")],
)
def test_a_manifest_must_name_the_files_that_serving_needs(store, objects, manifest, message):
    objects.put(f"checkpoints/{ID}/manifest.json", manifest)
    with pytest.raises(ArtifactError, match=message):
        fetch_checkpoint(store, URI)


@pytest.mark.parametrize(
    ("name", "expected"),
    [(ID, True), (ID.upper(), False), (ID + "\n", False), ("../" + ID, False), ("", False), ("e/p/n", False)],
)
def test_only_lower_case_uuids_name_checkpoints(name, expected):
    assert is_checkpoint_id(name) is expected


def test_on_s3_the_writer_needs_no_download_and_a_damaged_one_is_not_kept(s3_settings):
    store = open_store(s3_settings)
    digest = write_checkpoint(store, uri := locate_checkpoint(ID), write_files)
    assert len(store.cache.list_folders()) == 1
    fetch_checkpoint(store, uri, digest, [OPTIMIZER_STATE])
    assert len(store.cache.list_folders()) == 1
    Objects(s3_settings, store).put(f"checkpoints/{ID}/adapter_model.safetensors", b"damaged")
    with pytest.raises(ArtifactError, match="is damaged"):
        fetch_checkpoint(store, uri, digest)
    assert len(list(store.cache.root.iterdir())) == 1


def test_an_unavailable_store_is_not_a_missing_artifact(s3_settings):
    away = open_store(StoreSettings(s3_settings.address, "http://127.0.0.1:9", cache=s3_settings.cache))
    for ask in (lambda: away.read(URI, DIGEST), lambda: away.has(URI), lambda: away.fetch(URI, DIGEST)):
        with pytest.raises(StoreUnavailable, match="does not answer"):
            ask()


def test_a_wrong_bucket_is_not_a_missing_artifact(s3_settings):
    wrong = open_store(StoreSettings("s3://no-such-bucket", s3_settings.endpoint, cache=s3_settings.cache))
    with pytest.raises(StoreUnavailable, match="refuses"):
        wrong.read(URI, DIGEST)


def test_settings_of_a_store_on_s3():
    env = {
        "TRAINYARD_ARTIFACTS": "s3://bucket/a",
        "TRAINYARD_S3_ENDPOINT": "http://s3:9000",
        "TRAINYARD_S3_REGION": "eu-1",
        "TRAINYARD_ARTIFACT_CACHE": "/cache",
        "TRAINYARD_ARTIFACT_CACHE_BYTES": "1000",
    }
    assert read_store_settings(env) == StoreSettings("s3://bucket/a", "http://s3:9000", "eu-1", Path("/cache"), 1000)


@pytest.mark.parametrize(
    ("name", "value"),
    [("TRAINYARD_ARTIFACTS", "artifacts"), ("TRAINYARD_ARTIFACTS", ""), ("TRAINYARD_ARTIFACT_CACHE_BYTES", "much")],
)
def test_a_wrong_setting_is_named(name, value):
    with pytest.raises(StoreSettingsError, match=name):
        read_store_settings({"TRAINYARD_ARTIFACTS": "/artifacts", name: value})


def test_a_file_is_stored_completely_from_its_start(store, objects):
    file = io.BytesIO(CONTENT * 1000)
    file.seek(5)
    store.write_file("artifact:///statistics/x.bin", file)
    assert store.read("artifact:///statistics/x.bin") == CONTENT * 1000
    assert objects.list() == ["statistics/x.bin"]


def test_a_file_stays_open_and_can_be_removed_and_stored_again(store, objects):
    file = io.BytesIO(CONTENT)
    store.write_file(uri := "artifact:///statistics/x.bin", file)
    for _ in range(2):
        store.remove(uri)
    assert objects.list() == []
    store.write_file(uri, file)
    assert store.read(uri) == CONTENT


def test_a_file_that_cannot_be_read_leaves_nothing(store, objects):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        store.write_file("artifact:///statistics/x.bin", Broken(CONTENT))
    assert objects.list() == []

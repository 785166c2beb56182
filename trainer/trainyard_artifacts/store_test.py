import hashlib
import json

import pytest

from trainyard_artifacts.checkpoints import is_checkpoint_id, verify_checkpoint, write_checkpoint
from trainyard_artifacts.store import ArtifactError, ArtifactStore

ID = "0af1bed4-69fa-474f-be16-a18cc731a38f"


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path)


def write_files(folder):
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    (folder / "adapter_config.json").write_bytes(b"{}")


@pytest.mark.parametrize(
    "uri",
    ["/etc/passwd", "file:///x", "artifact:////etc", "artifact:///../x", "artifact:///a/../b", "artifact:///.x", ""],
)
def test_an_address_cannot_lead_out_of_the_store(store, uri):
    with pytest.raises(ArtifactError, match="is not an address"):
        store.locate(uri)


def test_bytes_are_read_only_with_the_right_digest(store):
    (store.root / "payloads").mkdir()
    (store.root / "payloads" / "x.json").write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    assert store.read("artifact:///payloads/x.json", digest) == b"{}"
    with pytest.raises(ArtifactError, match="has the digest"):
        store.read("artifact:///payloads/x.json", "0" * 64)
    with pytest.raises(ArtifactError, match="not in the artifact store"):
        store.read("artifact:///payloads/y.json", digest)


def test_a_checkpoint_is_written_with_its_manifest(store):
    uri, digest = write_checkpoint(store, ID, 1, write_files)
    folder = store.root / "checkpoints" / ID
    manifest = (folder / "manifest.json").read_bytes()
    assert (uri, digest) == (f"artifact:///checkpoints/{ID}", hashlib.sha256(manifest).hexdigest())
    assert json.loads(manifest)["files"]["adapter_config.json"] == hashlib.sha256(b"{}").hexdigest()
    verify_checkpoint(folder, ["adapter_model.safetensors", "adapter_config.json"], digest)


def test_a_checkpoint_that_cannot_be_written_leaves_nothing(store):
    def fail(folder):
        write_files(folder)
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_checkpoint(store, ID, 1, fail)
    assert list((store.root / "checkpoints").iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "adapter_config.json").write_bytes(b"[]"), "differs from the manifest"),
        (lambda folder: (folder / "adapter_config.json").unlink(), "lacks adapter_config.json"),
        (lambda folder: (folder / "manifest.json").unlink(), "no readable manifest"),
        (lambda folder: (folder / "manifest.json").write_text('{"files": {}}'), "another digest"),
    ],
)
def test_damage_is_noticed(store, damage, message):
    _, digest = write_checkpoint(store, ID, 1, write_files)
    damage(store.root / "checkpoints" / ID)
    with pytest.raises(ArtifactError, match=message):
        verify_checkpoint(store.root / "checkpoints" / ID, ["adapter_config.json"], digest)


@pytest.mark.parametrize(
    ("name", "expected"),
    [(ID, True), (ID.upper(), False), (ID + "\n", False), ("../" + ID, False), ("", False), ("e/p/n", False)],
)
def test_only_lower_case_uuids_name_checkpoints(name, expected):
    assert is_checkpoint_id(name) is expected

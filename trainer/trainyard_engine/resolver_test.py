import asyncio

import pytest

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, SERVED_FILES, locate_checkpoint, write_checkpoint
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import open_store

ID = "0af1bed4-69fa-474f-be16-a18cc731a38f"


@pytest.fixture
def store(store_settings):
    return open_store(store_settings)


@pytest.fixture
def resolve(store):
    return make_resolve(store)


def make_resolve(store):
    from trainyard_engine.resolver import CheckpointResolver  # vLLM takes seconds to import

    async def unload(name):
        raise AssertionError(f"{name} had to go")

    resolver = CheckpointResolver(store, unload)
    return lambda name: asyncio.run(resolver.resolve_lora("base", name))


def write_files(folder):
    for name in SERVED_FILES:
        (folder / name).write_bytes(b"x")


def test_a_checkpoint_is_found_by_its_id(store, resolve):
    write_checkpoint(store, locate_checkpoint(ID), write_files)
    request = resolve(ID)
    assert request.lora_name == ID
    with open(f"{request.lora_path}/{ADAPTER_WEIGHTS}", "rb") as weights:
        assert weights.read() == b"x"


def test_no_file_is_copied_from_a_folder(tmp_path):
    store = open_store(StoreSettings(str(tmp_path)))
    write_checkpoint(store, locate_checkpoint(ID), write_files)
    assert make_resolve(store)(ID).lora_path == str(tmp_path / "checkpoints" / ID)


@pytest.mark.parametrize("name", [ID, ID.upper(), "e/p/n", "../checkpoints/" + ID, f"{ID}/", "", ".", "\0"])
def test_any_other_name_is_unknown(store, resolve, name):
    write_checkpoint(store, locate_checkpoint(ID.replace("0", "1")), write_files)
    assert resolve(name) is None


def test_a_checkpoint_without_its_manifest_does_not_exist_yet(tmp_path):
    folder = tmp_path / "checkpoints" / ID
    folder.mkdir(parents=True)
    write_files(folder)
    assert make_resolve(open_store(StoreSettings(str(tmp_path))))(ID) is None


def test_a_damaged_checkpoint_is_rejected(tmp_path):
    store = open_store(StoreSettings(str(tmp_path)))
    write_checkpoint(store, locate_checkpoint(ID), write_files)
    (tmp_path / "checkpoints" / ID / ADAPTER_WEIGHTS).write_bytes(b"y")
    with pytest.raises(Exception, match="damaged") as caught:
        make_resolve(store)(ID)
    assert caught.value.status_code == 500


def test_an_unavailable_store_is_not_an_unknown_name(tmp_path):
    pytest.importorskip("boto3")
    store = open_store(StoreSettings("s3://bucket", "http://127.0.0.1:9", cache=tmp_path))
    with pytest.raises(Exception, match="does not answer") as caught:
        make_resolve(store)(ID)
    assert caught.value.status_code == 503

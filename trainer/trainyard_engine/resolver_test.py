import asyncio
from pathlib import Path

import pytest

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, SERVED_FILES, write_checkpoint
from trainyard_artifacts.store import ArtifactStore

ID = "0af1bed4-69fa-474f-be16-a18cc731a38f"


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path)


@pytest.fixture
def resolve(store):
    from trainyard_engine.resolver import CheckpointResolver  # vLLM takes seconds to import

    resolver = CheckpointResolver(store.root)
    return lambda name: asyncio.run(resolver.resolve_lora("base", name))


def write_files(folder: Path) -> None:
    for name in SERVED_FILES:
        (folder / name).write_bytes(b"x")


def test_a_checkpoint_is_found_by_its_id(store, resolve):
    write_checkpoint(store, ID, 1, write_files)
    request = resolve(ID)
    assert (request.lora_name, request.lora_path) == (ID, str(store.root / "checkpoints" / ID))


@pytest.mark.parametrize("name", [ID, ID.upper(), "e/p/n", "../checkpoints/" + ID, f"{ID}/", "", ".", "\0"])
def test_any_other_name_is_unknown(store, resolve, name):
    folder = store.root / "checkpoints"
    folder.mkdir()
    (folder / f"{ID}x").mkdir()
    assert resolve(name) is None


def test_a_damaged_checkpoint_is_refused(store, resolve):
    write_checkpoint(store, ID, 1, write_files)
    (store.root / "checkpoints" / ID / ADAPTER_WEIGHTS).write_bytes(b"y")
    with pytest.raises(Exception, match="damaged"):
        resolve(ID)

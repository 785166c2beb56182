"""Checkpoints in the artifact store: `checkpoints/<id>/` with a manifest of file digests."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from uuid import uuid4

from trainyard_artifacts.addresses import SCHEME, ArtifactError, ArtifactMissing
from trainyard_artifacts.files import digest_file
from trainyard_artifacts.store import ArtifactStore

ADAPTER_WEIGHTS = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
OPTIMIZER_STATE = "optimizer.safetensors"
MANIFEST = "manifest.json"
# The files that serving needs. Optimizer state is only kept for the newest step.
SERVED_FILES = (ADAPTER_WEIGHTS, ADAPTER_CONFIG)
CHECKPOINT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_checkpoint_id(name: str) -> bool:
    """True only for a lower-case UUID, so that no name can be a path."""
    return CHECKPOINT_ID.fullmatch(name) is not None


def locate_checkpoint(checkpoint_id: str) -> str:
    """The address of a checkpoint."""
    if not is_checkpoint_id(checkpoint_id):
        raise ArtifactError(f"{checkpoint_id!r} is not a checkpoint id")
    return f"{SCHEME}checkpoints/{checkpoint_id}"


def locate_progress(job_id: str) -> str:
    """A new address for the state of an unfinished job. The state has the form of a checkpoint."""
    return f"{SCHEME}progress/{job_id}/{uuid4()}"


def write_checkpoint(
    store: ArtifactStore, uri: str, write_files: Callable[[Path], None], *, cached: bool = True
) -> str:
    """Writes a checkpoint's files and manifest, completely or not at all. Returns the digest of the manifest.

    With `cached`, it is also kept in the cache, because the next job probably begins from it.
    """
    digest = ""

    def write(folder: Path) -> None:
        nonlocal digest
        write_files(folder)
        files = {path.name: digest_file(path) for path in sorted(folder.iterdir())}
        (folder / MANIFEST).write_text(json.dumps({"files": files}, sort_keys=True))
        digest = digest_file(folder / MANIFEST)

    store.write_folder(uri, write, last=MANIFEST, cached=cached)
    return digest


def fetch_checkpoint(store: ArtifactStore, uri: str, digest: str | None = None, optional: Iterable[str] = ()) -> Path:
    """Returns a local folder with the files of a checkpoint that serving needs, and with the optional files that still
    exist.

    All files are verified with the manifest, and the manifest with its own digest if that is known. Raises
    ArtifactMissing when there is no manifest, and so no checkpoint.
    """
    files = read_manifest(store, uri, digest)
    wanted = [*SERVED_FILES, *(name for name in optional if name in files and store.has(f"{uri}/{name}"))]
    if missing := [name for name in wanted if name not in files]:
        raise ArtifactError(f"checkpoint {uri} has no {missing[0]} in its manifest")
    try:
        return store.fetch_folder(uri, {name: files[name] for name in wanted})
    except ArtifactMissing as cause:
        raise ArtifactError(f"checkpoint {uri} is damaged: {cause}") from cause


def read_manifest(store: ArtifactStore, uri: str, digest: str | None) -> dict[str, str]:
    content = store.read(f"{uri}/{MANIFEST}", digest)
    try:
        files = json.loads(content)["files"]
    except (ValueError, KeyError, TypeError) as cause:
        raise ArtifactError(f"checkpoint {uri} has no readable manifest") from cause
    if not isinstance(files, dict):
        raise ArtifactError(f"checkpoint {uri} has no readable manifest")
    return files

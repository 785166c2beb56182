"""Checkpoints in the artifact store: `checkpoints/<id>/` with a manifest of file digests."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from trainyard_artifacts.store import SCHEME, ArtifactError, ArtifactStore, digest_file, publish_folder

ADAPTER_WEIGHTS = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
OPTIMIZER_STATE = "optimizer.safetensors"
MANIFEST = "manifest.json"
# What serving needs; optimizer state is kept for the newest step only.
SERVED_FILES = (ADAPTER_WEIGHTS, ADAPTER_CONFIG)
CHECKPOINT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_checkpoint_id(name: str) -> bool:
    """True for a lower-case uuid only, so that no name can be a path."""
    return CHECKPOINT_ID.fullmatch(name) is not None


def write_checkpoint(
    store: ArtifactStore, checkpoint_id: str, attempt: int, write_files: Callable[[Path], None]
) -> tuple[str, str]:
    """Writes a checkpoint's files and manifest, complete or not at all. Gives its address and digest."""
    if not is_checkpoint_id(checkpoint_id):
        raise ArtifactError(f"{checkpoint_id!r} is not a checkpoint id")
    folder = store.root / "checkpoints"
    with publish_folder(folder / f".{checkpoint_id}.{attempt}.tmp", folder / checkpoint_id) as temporary:
        write_files(temporary)
        files = {path.name: digest_file(path) for path in sorted(temporary.iterdir())}
        (temporary / MANIFEST).write_text(json.dumps({"files": files}, sort_keys=True))
        digest = digest_file(temporary / MANIFEST)
    return f"{SCHEME}checkpoints/{checkpoint_id}", digest


def verify_checkpoint(folder: Path, names: Iterable[str], digest: str | None = None) -> None:
    """Compares the named files with the manifest, and the manifest with its own digest where that is known."""
    files = read_manifest(folder, digest)
    for name in names:
        if name not in files:
            raise ArtifactError(f"checkpoint {folder.name} has no {name} in its manifest")
        try:
            found = digest_file(folder / name)
        except OSError as cause:
            raise ArtifactError(f"checkpoint {folder.name} lacks {name}") from cause
        if found != files[name]:
            raise ArtifactError(f"checkpoint {folder.name} is damaged: {name} differs from the manifest")


def read_manifest(folder: Path, digest: str | None) -> dict[str, str]:
    try:
        if digest is not None and digest_file(folder / MANIFEST) != digest:
            raise ArtifactError(f"checkpoint {folder.name} is damaged: its manifest has another digest")
        files = json.loads((folder / MANIFEST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise ArtifactError(f"checkpoint {folder.name} has no readable manifest") from cause
    if not isinstance(files, dict):
        raise ArtifactError(f"checkpoint {folder.name} has no readable manifest")
    return files

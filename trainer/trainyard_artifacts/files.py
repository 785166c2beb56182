"""Digests and durable folders."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from trainyard_artifacts.addresses import ArtifactError

WriteFiles = Callable[[Path], None]

CHUNK_BYTES = 1 << 20


def digest_bytes(content: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(content).hexdigest()


def digest_file(path: Path) -> str:
    """The sha256 of a file, in hex."""
    with path.open("rb") as file:
        return digest_stream(file)


def digest_stream(file: BinaryIO) -> str:
    """The sha256 of an open file from its start, in hex."""
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def publish_folder(temporary: Path, final: Path) -> Iterator[Path]:
    """Yields a new folder to write into. It gets its final name when the block succeeds, and is removed otherwise."""
    shutil.rmtree(temporary, ignore_errors=True)
    for folder in (final.parent, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        for path in temporary.iterdir():
            path.chmod(0o644)  # safetensors restricts the mode to the owner; engines may run as another user
            sync_path(path)
        for folder in (temporary, temporary.parent, final.parent):
            let_group_write(folder)
        sync_path(temporary)
        temporary.rename(final)
        sync_path(final.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def publish_file(source: BinaryIO, temporary: Path, final: Path) -> None:
    """Writes a durable copy of an open file from its start. It is complete under its final name, or absent."""
    for folder in (final.parent, temporary.parent):
        folder.mkdir(parents=True, exist_ok=True)
        let_group_write(folder)
    try:
        source.seek(0)
        with temporary.open("wb") as copy:
            shutil.copyfileobj(source, copy, CHUNK_BYTES)
        temporary.chmod(0o644)  # other users read it, even with a strict umask
        sync_path(temporary)
        temporary.rename(final)
        sync_path(final.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def let_group_write(folder: Path) -> None:
    """The operator deletes checkpoints. On a volume, it shares a group with trainers, not a user."""
    state = folder.stat()
    if state.st_uid == os.geteuid():
        folder.chmod((state.st_mode & 0o7777) | 0o070)


def sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_digest(uri: str, found: str, digest: str | None) -> None:
    if digest is not None and found != digest:
        raise ArtifactError(f"{uri} is damaged: it has the digest {found}, not {digest} as it should")

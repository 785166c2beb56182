"""Addresses, digests and durable folders of the artifact store."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCHEME = "artifact:///"
KEY = re.compile(r"[a-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
CHUNK_BYTES = 1 << 20


class ArtifactError(Exception):
    """An artifact is missing, is damaged, or has an impossible address."""


class ArtifactStore:
    """The folder that apiserver, trainers and engines share. Objects never change once they are there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def locate(self, uri: str) -> Path:
        """The path of an `artifact:///KEY` address; a key cannot lead out of the store."""
        key = uri.removeprefix(SCHEME)
        if not uri.startswith(SCHEME) or not KEY.fullmatch(key) or ".." in key:
            raise ArtifactError(f"{uri!r} is not an address in the artifact store ({SCHEME}KEY)")
        return self.root / key

    def read(self, uri: str, digest: str) -> bytes:
        """The bytes at an address, which must have the given sha256 (hex)."""
        try:
            content = self.locate(uri).read_bytes()
        except FileNotFoundError as cause:
            raise ArtifactError(f"{uri} is not in the artifact store") from cause
        found = hashlib.sha256(content).hexdigest()
        if found != digest:
            raise ArtifactError(f"{uri} has the digest {found}, not {digest} as it should")
        return content


def digest_file(path: Path) -> str:
    """The sha256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def publish_folder(temporary: Path, final: Path) -> Iterator[Path]:
    """A new folder to write into; complete under its final name when the block ends well, else gone."""
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for path in temporary.iterdir():
            path.chmod(0o644)  # safetensors writes for its owner alone; engines may run as another user
            sync_path(path)
        sync_path(temporary)
        temporary.rename(final)
        sync_path(final.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""The artifact store as trainers write it and engines read it, on a shared folder or on S3."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import BinaryIO, Protocol
from uuid import uuid4

from trainyard_artifacts.addresses import ArtifactMissing, StoreUnavailable, parse_key
from trainyard_artifacts.files import (
    WriteFiles,
    digest_bytes,
    digest_file,
    publish_file,
    publish_folder,
    require_digest,
)
from trainyard_artifacts.folder_cache import FolderCache
from trainyard_artifacts.settings import StoreSettings


class ArtifactStore(Protocol):
    """Objects never change once they are there; `uri` is an `artifact:///KEY` address, a digest is sha256 in hex."""

    @property
    def cache(self) -> FolderCache | None:
        """Where fetched files lie, if they do not lie in the store itself."""
        ...

    def read(self, uri: str, digest: str | None = None) -> bytes:
        """The bytes of an object, which must have the digest where one is given. Raises ArtifactMissing."""
        ...

    def has(self, uri: str) -> bool: ...

    def fetch(self, uri: str, digest: str) -> Path:
        """A local file with the bytes of an object, verified."""
        ...

    def fetch_folder(self, uri: str, files: Mapping[str, str]) -> Path:
        """A local folder with files of a folder of objects, verified; `files` gives their digests by name."""
        ...

    def write_folder(self, uri: str, write_files: WriteFiles, last: str, *, cached: bool) -> None:
        """Stores a new folder of files, complete or not at all: who sees the file `last` sees all.

        `cached` says whether it is likely to be fetched again here.
        """
        ...

    def write_file(self, uri: str, file: BinaryIO) -> None:
        """Stores what an open file gives from its start on, complete or not at all; the file stays open."""
        ...

    def remove(self, uri: str) -> None:
        """Of an object that nobody is told of any more; it may be gone already."""
        ...


@cache
def open_store(settings: StoreSettings) -> ArtifactStore:
    """One store per process and settings, so that its connections are kept."""
    if settings.address.startswith("/"):
        return FolderStore(Path(settings.address))
    from trainyard_artifacts.s3_store import S3Store  # boto3 takes a moment to import

    return S3Store(settings)


class FolderStore:
    """The folder that apiserver, operator, trainers and engines share. Files are used where they lie."""

    cache = None

    def __init__(self, root: Path) -> None:
        self.root = root

    def locate(self, uri: str) -> Path:
        """The path of an address; a key cannot lead out of the store."""
        return self.root / parse_key(uri)

    def read(self, uri: str, digest: str | None = None) -> bytes:
        try:
            content = self.locate(uri).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as cause:
            self.require_root()
            raise ArtifactMissing(f"{uri} is not in the artifact store") from cause
        require_digest(uri, digest_bytes(content), digest)
        return content

    def require_root(self) -> None:
        """A store that is not there has lost nothing."""
        if not self.root.is_dir():
            raise StoreUnavailable(f"The artifact store is not there: {self.root} is no folder")

    def has(self, uri: str) -> bool:
        return self.locate(uri).exists()

    def fetch(self, uri: str, digest: str) -> Path:
        path = self.locate(uri)
        try:
            require_digest(uri, digest_file(path), digest)
        except OSError as cause:
            self.require_root()
            raise ArtifactMissing(f"{uri} is not in the artifact store") from cause
        return path

    def fetch_folder(self, uri: str, files: Mapping[str, str]) -> Path:
        for name, digest in files.items():
            self.fetch(f"{uri}/{name}", digest)
        return self.locate(uri)

    def write_folder(self, uri: str, write_files: WriteFiles, last: str, *, cached: bool) -> None:
        final = self.locate(uri)
        # A rename shows all files at once, whichever is the last; and they are used where they lie.
        del last, cached
        # Where apiserver and operator look for what a crash left.
        with publish_folder(self.root / ".spool" / f"{final.name}.{uuid4()}", final) as temporary:
            write_files(temporary)

    def write_file(self, uri: str, file: BinaryIO) -> None:
        final = self.locate(uri)
        publish_file(file, self.root / ".spool" / f"{final.name}.{uuid4()}", final)

    def remove(self, uri: str) -> None:
        self.locate(uri).unlink(missing_ok=True)

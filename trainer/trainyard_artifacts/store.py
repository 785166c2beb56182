"""The artifact store of trainers and engines, on a shared folder or on S3."""

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
    """Objects never change. `uri` is an `artifact:///KEY` address. Digests are sha256 in hex."""

    @property
    def cache(self) -> FolderCache | None:
        """The cache of fetched files. None if files are used in the store itself."""
        ...

    def read(self, uri: str, digest: str | None = None) -> bytes:
        """Reads an object and verifies its digest, if one is given. Raises ArtifactMissing."""
        ...

    def has(self, uri: str) -> bool: ...

    def fetch(self, uri: str, digest: str) -> Path:
        """Returns a local file with the verified content of an object."""
        ...

    def fetch_folder(self, uri: str, files: Mapping[str, str]) -> Path:
        """Returns a local folder with verified objects of a folder. `files` has their digests by name."""
        ...

    def write_folder(self, uri: str, write_files: WriteFiles, last: str, *, cached: bool) -> None:
        """Stores a new folder of files, completely or not at all. When the file `last` exists, all files do.

        `cached` says whether this process is likely to fetch it again.
        """
        ...

    def write_file(self, uri: str, file: BinaryIO) -> None:
        """Stores an open file from its start, completely or not at all. The file stays open."""
        ...

    def remove(self, uri: str) -> None:
        """Removes an object that nothing refers to. It may be gone already."""
        ...


@cache
def open_store(settings: StoreSettings) -> ArtifactStore:
    """One store for each process and its settings, so that connections are reused."""
    if settings.address.startswith("/"):
        return FolderStore(Path(settings.address))
    from trainyard_artifacts.s3_store import S3Store  # boto3 takes a moment to import

    return S3Store(settings)


class FolderStore:
    """A folder that apiserver, operator, trainers and engines share. Files are used in place."""

    cache = None

    def __init__(self, root: Path) -> None:
        self.root = root

    def locate(self, uri: str) -> Path:
        """The path of an address. A key cannot lead out of the store."""
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
        """If the store itself is missing, its objects are not lost."""
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
        # A rename makes all files visible at once, so `last` needs no special order. Files are used in place, so no
        # cache is needed.
        del last, cached
        # apiserver and operator look here for the remains of crashes.
        with publish_folder(self.root / ".spool" / f"{final.name}.{uuid4()}", final) as temporary:
            write_files(temporary)

    def write_file(self, uri: str, file: BinaryIO) -> None:
        final = self.locate(uri)
        publish_file(file, self.root / ".spool" / f"{final.name}.{uuid4()}", final)

    def remove(self, uri: str) -> None:
        self.locate(uri).unlink(missing_ok=True)

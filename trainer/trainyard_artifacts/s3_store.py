"""The artifact store in an S3 bucket."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from trainyard_artifacts.addresses import (
    ArtifactError,
    ArtifactMissing,
    StoreForbidden,
    StoreUnavailable,
    parse_key,
)
from trainyard_artifacts.files import WriteFiles, digest_bytes, digest_file, require_digest
from trainyard_artifacts.folder_cache import FolderCache
from trainyard_artifacts.settings import StoreSettings

ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.+?))?/?")
PART_BYTES = 16 << 20
TRANSFER = TransferConfig(multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, max_concurrency=4)
MISSING = ("404", "NoSuchKey", "NotFound")
FORBIDDEN = ("403", "AccessDenied", "Forbidden")


class S3Store:
    """Files are fetched into a cache, verified there, and used from there."""

    def __init__(self, settings: StoreSettings) -> None:
        match = ADDRESS.fullmatch(settings.address)
        if match is None:
            raise ArtifactError("TRAINYARD_ARTIFACTS is not s3://BUCKET[/PREFIX]")
        self.bucket = match[1]
        self.prefix = f"{match[2]}/" if match[2] else ""
        self.client = connect(settings)
        self.cache = FolderCache(settings.cache, settings.cache_bytes)
        self.cache.sweep()

    def read(self, uri: str, digest: str | None = None) -> bytes:
        with self.reading(uri):
            content = self.client.get_object(Bucket=self.bucket, Key=self.key(uri))["Body"].read()
        require_digest(uri, digest_bytes(content), digest)
        return content

    def has(self, uri: str) -> bool:
        key = self.key(uri)
        with explained(uri):
            # Of the keys with this prefix, the key itself is the first.
            listed = self.client.list_objects_v2(Bucket=self.bucket, Prefix=key, MaxKeys=1)
        return any(found["Key"] == key for found in listed.get("Contents", []))

    @contextmanager
    def reading(self, uri: str) -> Iterator[None]:
        """Distinguishes a missing object from one that the key may not read."""
        try:
            with explained(uri):
                yield
        except StoreForbidden as cause:
            if self.has(uri):
                raise
            raise ArtifactMissing(f"{uri} is not in the artifact store") from cause

    def fetch(self, uri: str, digest: str) -> Path:
        return self.fetch_files({"object": (uri, digest)}) / "object"

    def fetch_folder(self, uri: str, files: Mapping[str, str]) -> Path:
        return self.fetch_files({name: (f"{uri}/{name}", digest) for name, digest in files.items()})

    def fetch_files(self, files: Mapping[str, tuple[str, str]]) -> Path:
        """Fetches files by address and digest into a cached folder, which is named after the digests."""

        def download(folder: Path) -> None:
            for name, (uri, digest) in files.items():
                self.download(uri, digest, folder / name)

        return self.cache.get(name_folder({name: digest for name, (_, digest) in files.items()}), download)

    def download(self, uri: str, digest: str, path: Path) -> None:
        with self.reading(uri):
            self.client.download_file(self.bucket, self.key(uri), str(path), Config=TRANSFER)
        require_digest(uri, digest_file(path), digest)

    def write_folder(self, uri: str, write_files: WriteFiles, last: str, *, cached: bool) -> None:
        """The file `last` is sent last."""
        if self.has(f"{uri}/{last}"):
            raise ArtifactError(f"{uri} is already in the artifact store")
        with self.cache.open_partial() as folder:
            write_files(folder)
            for path in sorted(folder.iterdir(), key=lambda path: path.name == last):
                with explained(uri):
                    self.client.upload_file(str(path), self.bucket, self.key(f"{uri}/{path.name}"), Config=TRANSFER)
            if cached:
                digests = {path.name: digest_file(path) for path in folder.iterdir() if path.name != last}
                self.cache.keep(folder, name_folder(digests))

    def write_file(self, uri: str, file: BinaryIO) -> None:
        file.seek(0)
        with explained(uri):
            self.client.upload_fileobj(KeptOpen(file), self.bucket, self.key(uri), Config=TRANSFER)

    def remove(self, uri: str) -> None:
        with explained(uri):
            self.client.delete_object(Bucket=self.bucket, Key=self.key(uri))

    def key(self, uri: str) -> str:
        return self.prefix + parse_key(uri)


class KeptOpen:
    """An open file for an upload, which would otherwise close it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def close(self) -> None:
        pass


def connect(settings: StoreSettings, credentials: tuple[str | None, str | None] = (None, None)):
    """Connects with bounded timeouts and retries. Without credentials, they come from AWS's own variables and files."""
    # Other S3 servers have no regions, but signatures need one.
    region = settings.region or ("us-east-1" if settings.endpoint else None)
    config = Config(
        connect_timeout=3,
        read_timeout=30,
        retries={"total_max_attempts": 3, "mode": "standard"},
        s3={"addressing_style": "path"} if settings.endpoint else None,
        # Our own digests verify the content. Not every S3 server supports checksums in trailers.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    key_id, key = credentials
    return boto3.client(
        "s3",
        endpoint_url=settings.endpoint,
        region_name=region,
        aws_access_key_id=key_id,
        aws_secret_access_key=key,
        config=config,
    )


def name_folder(digests: Mapping[str, str]) -> str:
    return digest_bytes(json.dumps(digests, sort_keys=True).encode())


@contextmanager
def explained(uri: str) -> Iterator[None]:
    """Distinguishes a missing object from an unavailable store."""
    try:
        yield
    except ClientError as cause:
        code = cause.response.get("Error", {}).get("Code")
        if code in MISSING:
            raise ArtifactMissing(f"{uri} is not in the artifact store") from cause
        if code in FORBIDDEN:
            raise StoreForbidden(f"The artifact store refuses: {cause}") from cause
        raise StoreUnavailable(f"The artifact store refuses: {cause}") from cause
    except (BotoCoreError, Boto3Error) as cause:
        raise StoreUnavailable(f"The artifact store does not answer: {cause}") from cause

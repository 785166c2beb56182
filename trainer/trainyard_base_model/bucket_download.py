"""Base models in a bucket, fetched once into a cache that several pods may share."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard_artifacts.addresses import ArtifactError
from trainyard_artifacts.files import digest_bytes, sync_path
from trainyard_artifacts.s3_store import ADDRESS, TRANSFER, connect, explained
from trainyard_artifacts.settings import StoreSettings
from trainyard_base_model.bucket_model import BucketModel
from trainyard_base_model.download_progress import DownloadProgress
from trainyard_base_model.pieces import PIECE_BYTES, Bucket, PieceDownload
from trainyard_base_model.start_failure import StartFailure

# Far more than a model has. A wrong prefix must not fill the cache.
MAX_FILES = 10_000
MARKER = ".trainyard-etags.json"
PIECES = ".trainyard-pieces"
WEIGHT_INDEX = "*.safetensors.index.json"


@dataclass(frozen=True)
class RemoteFile:
    key: str
    path: str
    size: int
    etag: str


def fetch_bucket_model(model: BucketModel, progress: DownloadProgress) -> Path:
    """Returns a local folder with all files of the model. A folder with the final name is complete.

    Only one process fills a cache; the others wait for it. An interrupted download keeps what it has.
    Raises StartFailure.
    """
    # Imported late: the import reads the environment.
    from huggingface_hub.utils import WeakFileLock  # without flock, it uses a file that exists while it is locked

    name = digest_bytes(f"{model.endpoint or ''} {model.uri}".encode())[:32]
    folder, partial = model.cache / name, model.cache / f"{name}.partial"
    model.cache.mkdir(parents=True, exist_ok=True)
    try:
        with WeakFileLock(model.cache / f"{name}.lock"):
            if not folder.is_dir():
                fill(model, partial, progress)
                partial.rename(folder)
                sync_path(model.cache)
    except Exception as cause:  # storage, permissions, a full disk
        reason = " ".join(f"{cause}".split())[:800]
        raise StartFailure("DownloadFailed", f"The model {model.uri} cannot be downloaded: {reason}") from cause
    return folder


def fill(model: BucketModel, partial: Path, progress: DownloadProgress) -> None:
    """Downloads all files, and requires that they fit together and have not changed meanwhile."""
    bucket, prefix = parse_address(model.uri)
    client = connect_model(model)
    files = list(list_files(client, bucket, prefix))
    marker = partial / MARKER
    remove_others(partial, marker, {file.path: file for file in files})
    progress.begin(sum(file.size for file in files), 0)
    for file in files:
        path = partial / file.path
        if not path.is_file():
            with explained(f"s3://{bucket}/{file.key}"):
                fetch_file(Bucket(client, bucket), file, partial, progress)
        else:
            progress.add(file.size)
        if path.stat().st_size != file.size:
            raise ArtifactError(f"{file.path} has {path.stat().st_size} bytes, not {file.size} as in the bucket")
        sync_path(path)
    shutil.rmtree(partial / PIECES, ignore_errors=True)
    require_complete(partial)
    if list(list_files(client, bucket, prefix)) != files:
        shutil.rmtree(partial)
        raise ArtifactError(
            "its files changed while they were downloaded. Put each version of a model into its own folder"
        )
    marker.unlink()


def fetch_file(bucket: Bucket, file: RemoteFile, partial: Path, progress: DownloadProgress) -> None:
    path = partial / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.size > PIECE_BYTES:
        pieces = name_pieces(partial, file)
        PieceDownload(bucket, file.key, file.size, pieces, progress.add).run()
        pieces.rename(path)
    else:
        bucket.client.download_file(bucket.name, file.key, str(path), Config=TRANSFER)
        progress.add(file.size)


def parse_address(uri: str) -> tuple[str, str]:
    match = ADDRESS.fullmatch(uri)
    if match is None or not match[2]:
        raise ArtifactError("its address is not s3://BUCKET/PREFIX")
    return match[1], f"{match[2]}/"


def connect_model(model: BucketModel) -> Any:
    settings = StoreSettings(address=model.uri, endpoint=model.endpoint, region=model.region)
    if model.access_key_id is None or model.secret_access_key is None:
        return connect(settings)
    return connect(settings, credentials=(model.access_key_id, model.secret_access_key))


def list_files(client: Any, bucket: str, prefix: str) -> Iterator[RemoteFile]:
    """Raises ArtifactError for a folder that is empty, too large, or has names that lead out of it."""
    count = 0
    with explained(f"s3://{bucket}/{prefix}"):
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            for item in page.get("Contents", []):
                if item["Key"].endswith("/"):
                    continue
                count += 1
                yield RemoteFile(item["Key"], read_path(item["Key"], prefix), item["Size"], item["ETag"])
                if count > MAX_FILES:
                    raise ArtifactError(f"the folder has more than {MAX_FILES} files. Name the folder of one model")
    if count == 0:
        raise ArtifactError("the folder is empty or missing")


def read_path(key: str, prefix: str) -> str:
    path = PurePosixPath(key.removeprefix(prefix))
    if path.is_absolute() or ".." in path.parts or "\0" in key:
        raise ArtifactError(f"the name {key!r} leads out of the folder")
    return str(path)


def remove_others(partial: Path, marker: Path, files: Mapping[str, RemoteFile]) -> None:
    """Keeps the files of an interrupted download that are still the same in the bucket. `marker` has their ETags."""
    try:
        known = json.loads(marker.read_text())
    except (OSError, ValueError):
        known = {}
    kept = {name_pieces(partial, file).stem for file in files.values()}
    for path in [path for path in partial.rglob("*") if path.is_file()]:
        if path.parent == partial / PIECES and path.stem in kept:
            continue
        name = str(path.relative_to(partial))
        if name not in files or known.get(name) != files[name].etag:
            path.unlink()
    (partial / PIECES).mkdir(parents=True, exist_ok=True)
    marker.write_text(json.dumps({name: file.etag for name, file in files.items()}))


def name_pieces(partial: Path, file: RemoteFile) -> Path:
    """Where the pieces of a large file are. Another version of the file has another name."""
    return partial / PIECES / f"{digest_bytes(f'{file.path} {file.etag} {file.size}'.encode())[:32]}.partial"


def require_complete(folder: Path) -> None:
    """A model that is being uploaded may lack files that its configuration or its index names."""
    if not (folder / "config.json").is_file():
        raise ArtifactError("it has no config.json")
    if not any(folder.glob("*.safetensors")):
        raise ArtifactError("it has no *.safetensors. Only safetensors are read: convert the weights")
    for index in folder.glob(WEIGHT_INDEX):
        missing = [name for name in read_shards(index) if not (folder / name).is_file()]
        if missing:
            raise ArtifactError(f"{index.name} names {missing[0]}, which is not there")


def read_shards(index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise ArtifactError(f"{index.name} is not an index of weights") from cause

"""Large files of the hub, fetched so that another process can continue.

The hub's client writes each file under a name of its own process, because some file systems only pretend to lock. Here
a download that another process has begun continues. The digest shows whether two processes have written at once.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlparse

from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.file_download import HfFileMetadata, http_get, repo_folder_name
from huggingface_hub.utils import WeakFileLock, build_hf_headers

from trainyard_artifacts.files import digest_file
from trainyard_base_model.download_progress import DownloadProgress, make_file_bar

CONCURRENCY = 8
# The hub's client writes in pieces of this size, so that nothing of a smaller file is kept.
MIN_BYTES = constants.DOWNLOAD_CHUNK_SIZE
# The ETag of a large file. Small ones have another.
SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a commit, where it is, and where the hub's client looks for it."""

    url: str
    found: HfFileMetadata
    digest: str
    size: int
    blob: Path


def fetch_large_files(name: str, commit: str, paths: list[str], progress: DownloadProgress) -> None:
    """Fetches files into the cache of the hub's client, which finds them there."""
    with ThreadPoolExecutor(CONCURRENCY) as threads:
        list(threads.map(lambda path: fetch_file(name, hf_hub_url(name, path, revision=commit), progress), paths))


def fetch_file(name: str, url: str, progress: DownloadProgress) -> None:
    """Leaves files in the hub's Xet storage to its client, which fetches them faster, but not from where it stopped."""
    found = get_hf_file_metadata(url)
    if (
        found.size is None
        or not SHA256.fullmatch(found.etag or "")
        or (found.xet_file_data and not constants.HF_HUB_DISABLE_XET)
    ):
        return
    cache, folder = Path(constants.HF_HUB_CACHE), repo_folder_name(repo_id=name, repo_type="model")
    digest = found.etag or ""
    file = RemoteFile(url, found, digest, found.size, cache / folder / "blobs" / digest)
    lock = cache / ".locks" / folder / f"{digest}.partial.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(lock):
        if file.blob.is_file():
            progress.add(file.size)
        else:
            resume(file, progress)


def resume(file: RemoteFile, progress: DownloadProgress) -> None:
    """Raises OSError if the content is not what its digest says. It is then fetched anew."""
    partial = file.blob.with_name(f"{file.digest}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("ab") as output:
        offset = output.seek(0, os.SEEK_END)
        if offset > file.size:
            output.truncate(0)
            offset = output.seek(0)
        progress.add(offset)
        http_get(
            file.found.location,
            output,
            resume_size=offset,
            headers=build_headers(file),
            expected_size=file.size,
            tqdm_class=make_file_bar(progress),
        )
    if digest_file(partial) != file.digest:
        partial.unlink()
        raise OSError(f"the digest of {file.url} is not {file.digest}")
    partial.rename(file.blob)


def build_headers(file: RemoteFile) -> dict[str, str]:
    """The token is for the hub only, and not for a server that it names."""
    headers = build_hf_headers()
    if urlparse(file.url).netloc != urlparse(file.found.location).netloc:
        headers.pop("authorization", None)
    return headers

"""Fetches a model of the hub at its pinned revision. Everything is then read from one folder: weights, tokenizer and
code cannot come from different commits."""

import re
import time
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from huggingface_hub import DryRunFileInfo, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from trainyard_base_model.download_progress import DownloadProgress, make_progress_bar
from trainyard_base_model.interruption import exit_on_sigterm
from trainyard_base_model.resumable import MIN_BYTES, fetch_large_files
from trainyard_base_model.start_failure import StartFailure

# Neither trainers nor engines read these.
UNUSED = ("original/*", "onnx/*", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.mlpackage/*")
# Other forms of the same weights. Trainers read only safetensors.
DUPLICATES = ("*.bin", "*.pt", "*.pth", "consolidated*")
# A hub that is away for longer is a failure, which people should see. Kubernetes starts the process again.
COMMIT = re.compile("[0-9a-f]{40}")
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class Repository:
    name: str
    revision: str | None


def fetch_base_model(repository: Repository, progress: DownloadProgress) -> str:
    """Returns the model's folder. A folder is returned as it is. Raises StartFailure."""
    if Path(repository.name).is_dir():
        return repository.name
    try:
        with exit_on_sigterm():
            return fetch_with_retries(repository, progress)
    except GatedRepoError as cause:
        message = (
            "does not allow access with this pod's token: accept its terms on the hub, and name a Secret in "
            "source.secretRef of the BaseModel whose token is that of an account with access."
        )
        raise make_failure("GatedModel", repository, message) from cause
    except RevisionNotFoundError as cause:
        message = f"has no revision {repository.revision}: correct source.hub.revision of the BaseModel."
        raise make_failure("RevisionNotFound", repository, message) from cause
    except (RepositoryNotFoundError, HFValidationError) as cause:
        message = (
            "is neither a folder nor a Repo id of the hub. Correct the source of the BaseModel. A private repository "
            "needs source.secretRef."
        )
        raise make_failure("ModelNotFound", repository, message) from cause
    except Exception as cause:  # of the HTTP client, the file system and the hub's client
        raise make_failure("DownloadFailed", repository, f"cannot be downloaded: {cause!r}"[:500]) from cause


def make_failure(reason: str, repository: Repository, message: str) -> StartFailure:
    return StartFailure(reason, f"The model {repository.name} {message}")


def fetch_with_retries(repository: Repository, progress: DownloadProgress) -> str:
    """Complete files and parts of large ones are not fetched again. A commit never changes: the hub is not asked about
    one that is there."""
    cached = find_cached(repository)
    if cached and (constants.HF_HUB_OFFLINE or COMMIT.fullmatch(repository.revision or "")):
        return cached
    pauses, done = iter(PAUSES), 0
    while True:
        try:
            return fetch(repository, progress)
        except (GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError, HFValidationError):
            raise
        except Exception:
            if progress.done_bytes > done:
                pauses, done = iter(PAUSES), progress.done_bytes
            pause = next(pauses, None)
            if pause is None and cached:
                return cached
            if pause is None or constants.HF_HUB_OFFLINE:
                raise
        time.sleep(pause)


def find_cached(repository: Repository) -> str | None:
    """The folder of an earlier download, if it was complete."""
    try:
        folder = snapshot_download(
            repository.name,
            revision=repository.revision,
            local_files_only=True,
            ignore_patterns=[*UNUSED, *DUPLICATES],
        )
    except LocalEntryNotFoundError:
        return None
    return folder if any(Path(folder).glob("*.safetensors")) else None


def fetch(repository: Repository, progress: DownloadProgress) -> str:
    bars = make_progress_bar(progress)
    listed = snapshot_download(repository.name, revision=repository.revision, dry_run=True, tqdm_class=bars)
    if not listed:
        raise LocalEntryNotFoundError("the repository has no files")
    names = select_files([file.filename for file in listed])
    wanted = [file for file in listed if file.filename in names]
    progress.begin(measure(wanted), measure([file for file in wanted if file.is_cached]))
    large = [file.filename for file in wanted if not file.is_cached and (file.file_size or 0) >= MIN_BYTES]
    fetch_large_files(repository.name, listed[0].commit_hash, large, progress)
    return snapshot_download(
        repository.name,
        revision=listed[0].commit_hash,
        allow_patterns=names,
        tqdm_class=bars,
    )


def measure(files: list[DryRunFileInfo]) -> int:
    return sum(file.file_size or 0 for file in files)


def select_files(names: list[str]) -> list[str]:
    """The files of the model, without other forms of the same weights."""
    has_safetensors = any(fnmatch(name, "model*.safetensors") for name in names)
    left_out = (*UNUSED, *DUPLICATES) if has_safetensors else UNUSED
    return [name for name in names if not any(fnmatch(name, pattern) for pattern in left_out)]

"""Stores the adapter that training starts from. Clients download it as step 0 of their models."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable
from trainyard_artifacts.checkpoints import MANIFEST, locate_checkpoint, write_checkpoint
from trainyard_artifacts.files import CHUNK_BYTES, digest_bytes, digest_file
from trainyard_artifacts.store import ArtifactStore
from trainyard_base_model.lora import LoraSettings
from trainyard_trainer import log
from trainyard_trainer.compute.model.adapter_files import save_adapter
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.model.targets import choose_targets
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.failures import Fenced, JobFailure, ShuttingDown
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0


def publish_untrained(scheduler: Scheduler, lora: LoraSettings, store: ArtifactStore, client: StatusClient) -> None:
    """Tries until store and status server answer. Nothing else of a trainer depends on it."""
    pauses = back_off(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
    try:
        with TemporaryDirectory() as folder:
            save_untrained(scheduler, lora, Path(folder))
            report = {"base_model": scheduler.executor.base.name} | describe_files(Path(folder))
            policy = RetryPolicy((StoreUnavailable, StatusUnavailable, OSError), pauses)
            call_with_retries(lambda: publish(Path(folder), report, store, client), policy)
    except ShuttingDown:
        return
    except (Fenced, JobFailure, ArtifactError, OSError) as cause:
        log.warn("the untrained adapter is not published", error=str(cause))


def save_untrained(scheduler: Scheduler, lora: LoraSettings, folder: Path) -> None:
    """Writes the files that a first job would start from."""
    executor = scheduler.executor
    targets = scheduler.call(lambda: choose_targets(executor.base.model, lora.target_modules))
    shape = Shape(lora.rank, lora.alpha, targets)
    slot = scheduler.call(lambda: executor.open(shape, None))
    try:
        state = scheduler.call(lambda: executor.read(slot))
    finally:
        scheduler.call_if_open(lambda: executor.close(slot))
    save_adapter(state, shape, executor.base.name, folder)


def describe_files(folder: Path) -> dict:
    """The same files have the same address, so that only the first trainer stores them."""
    paths = sorted(folder.iterdir())
    digest = digest_bytes("\n".join(f"{path.name} {digest_file(path)}" for path in paths).encode())
    files = [{"path": path.name, "size": path.stat().st_size, "md5": compute_md5(path)} for path in paths]
    return {"uri": locate_checkpoint(str(UUID(digest[:32]))), "files": files}


def compute_md5(path: Path) -> str:
    """In hex. Clients of W&B's interface compare files by it."""
    md5 = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            md5.update(chunk)
    return md5.hexdigest()


def publish(folder: Path, report: dict, store: ArtifactStore, client: StatusClient) -> None:
    if not store.has(f"{report['uri']}/{MANIFEST}"):
        write_checkpoint(store, report["uri"], copy_from(folder), cached=False)
    client.post("/v1/untrained-adapter", report)


def copy_from(folder: Path) -> Callable[[Path], None]:
    def copy(target: Path) -> None:
        for path in folder.iterdir():
            shutil.copyfile(path, target / path.name)

    return copy

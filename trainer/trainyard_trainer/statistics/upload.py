"""Stores and reports token statistics while the next job runs. If the process ends, they are lost."""

import os
import threading
import time
from collections.abc import Callable
from itertools import repeat, takewhile
from typing import BinaryIO

from trainyard_artifacts.addresses import SCHEME, StoreUnavailable
from trainyard_artifacts.files import digest_stream
from trainyard_artifacts.store import ArtifactStore
from trainyard_trainer import log
from trainyard_trainer.failures import Fenced
from trainyard_trainer.reports.claims import Claim
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.retries import RetryPolicy, call_with_retries
from trainyard_trainer.statistics.recorder import TokenRecorder

# The database takes some seconds for the pushes of a hundred thousand trajectories.
TIMEOUT_SECONDS = 30.0
GIVE_UP_SECONDS = 120.0
PAUSE_SECONDS = 2.0


class Uploads:
    """Uploads in the background. Their errors never reach a job."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.lock = threading.Lock()

    def start(self, recorder: TokenRecorder, store: ArtifactStore, client: StatusClient, claim: Claim) -> None:
        """Takes the recorder of a job whose checkpoint is reported. Returns at once."""
        # The process does not wait for this thread at its end, unless `join` is called.
        thread = threading.Thread(target=run, args=(recorder, store, client, claim), daemon=True)
        with self.lock:
            self.threads = [known for known in self.threads if known.is_alive()]
            self.threads.append(thread)
            thread.start()

    def join(self, seconds: float) -> None:
        """Waits until everything is reported, up to a time limit. Call it before the process ends."""
        deadline = time.monotonic() + seconds
        with self.lock:
            threads = list(self.threads)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def run(recorder: TokenRecorder, store: ArtifactStore, client: StatusClient, claim: Claim) -> None:
    try:
        report(recorder, store, client, claim)
    except Fenced as cause:
        # The model was deleted meanwhile.
        log.info("token statistics are not wanted", job=claim.id, reason=str(cause))
    except Exception as cause:
        log.warn("token statistics are lost", job=claim.id, error=f"{type(cause).__name__}: {cause}")
    finally:
        recorder.discard()


def report(recorder: TokenRecorder, store: ArtifactStore, client: StatusClient, claim: Claim) -> None:
    """Stores the file before the row that names it. A file without a row is removed."""
    about = store_file(store, claim, recorder.finish())
    body = about | {"pushes": recorder.pushes()}
    address = f"/v1/jobs/{claim.id}/attempts/{claim.attempt}/token-statistics"
    try:
        call_until_available(lambda: client.post(address, body, timeout=TIMEOUT_SECONDS))
    except Fenced:
        if uri := about["uri"]:
            call_until_available(lambda: store.remove(uri))
        raise
    log.info("token statistics reported", job=claim.id, bytes=body["bytes"], trajectories=len(body["pushes"]))


def store_file(store: ArtifactStore, claim: Claim, file: BinaryIO | None) -> dict:
    if file is None:
        return {"uri": None, "digest": None, "bytes": None}
    uri = f"{SCHEME}token-statistics/{claim.checkpoint_id}.parquet"
    about = {"uri": uri, "digest": digest_stream(file), "bytes": file.seek(0, os.SEEK_END)}
    call_until_available(lambda: store.write_file(uri, file))
    return about


def call_until_available(send: Callable[[], None]) -> None:
    """Repeats a call until the status server or the store accepts it. Raises StatusUnavailable or StoreUnavailable
    after the time limit."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    pauses = takewhile(lambda _: time.monotonic() <= deadline, repeat(PAUSE_SECONDS))
    call_with_retries(send, RetryPolicy((StatusUnavailable, StoreUnavailable), pauses))

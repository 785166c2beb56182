"""Sends the log of one attempt at a job to the status server while it grows, so that the user can read it there."""

import threading
from contextlib import ExitStack

from trainyard_trainer import log
from trainyard_trainer.failures import Fenced, JobFailure
from trainyard_trainer.reports.claims import Claim
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.reports.text import make_sendable

SEND_SECONDS = 1.0
# A log that cannot be sent must not delay the next job.
LAST_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0
# The server keeps half of this, and marks where it dropped lines.
MAX_LINES = 2_000
MAX_TEXT_LENGTH = 8_000
MAX_BATCH_CHARACTERS = 100_000  # far below the largest body that the server accepts


class JobLog:
    """Use it as a context, which sends what is logged inside. Its errors never reach the job."""

    def __init__(self, client: StatusClient, claim: Claim) -> None:
        self.client = client
        self.path = f"/v1/jobs/{claim.id}/attempts/{claim.attempt}/log"
        self.lines: list[dict] = []
        self.count = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.send_lines, daemon=True)
        self.copying = ExitStack()

    def __enter__(self) -> "JobLog":
        self.copying.enter_context(log.copied_to(self.add))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.copying.close()
        self.ended.set()
        self.thread.join(LAST_SECONDS)

    def add(self, time: str, level: str, text: str) -> None:
        with self.lock:
            if self.count < MAX_LINES:
                text = make_sendable(text, MAX_TEXT_LENGTH)
                self.lines.append({"seq": self.count, "time": time, "level": level, "text": text})
                self.count += 1

    def send_lines(self) -> None:
        """Sends at most one request a second until the end, and then the rest."""
        over = False
        while not over:
            over = self.ended.wait(SEND_SECONDS)
            try:
                while self.send_batch() and over:
                    pass
            except StatusUnavailable:
                continue  # sends the same lines again, with the new ones
            except (Fenced, JobFailure):
                return  # the server rejects them

    def send_batch(self) -> bool:
        """Returns False when there was nothing to send."""
        with self.lock:
            batch = select_batch(self.lines)
        if batch:
            self.client.post(self.path, {"lines": batch}, timeout=TIMEOUT_SECONDS)
            with self.lock:
                del self.lines[: len(batch)]
        return bool(batch)


def select_batch(lines: list[dict]) -> list[dict]:
    size = 0
    batch: list[dict] = []
    for line in lines:
        size += len(line["text"])
        if batch and size > MAX_BATCH_CHARACTERS:
            break
        batch.append(line)
    return batch

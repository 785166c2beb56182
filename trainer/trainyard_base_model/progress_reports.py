"""Tells the status server how much of a base model is downloaded. Nothing depends on these reports."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from trainyard_base_model.download_progress import DownloadProgress

SEND_SECONDS = 5.0


@dataclass(frozen=True)
class StatusServer:
    """Its address, and the pod's token, which Kubernetes replaces now and then."""

    url: str
    token_file: Path


@dataclass
class Reporter:
    """Sends the newest counts in a thread of its own, so that a slow status server delays no download."""

    server: StatusServer
    newest: tuple[int, int] | None = None
    closed: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def report(self, done_bytes: int, total_bytes: int) -> None:
        with self.changed:
            self.newest = (min(done_bytes, total_bytes), total_bytes)
            self.changed.notify()

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify()

    def run(self) -> None:
        """Sends the last counts also after `close`."""
        with httpx.Client(base_url=self.server.url, timeout=SEND_SECONDS, trust_env=False) as client:
            while counts := self.wait():
                with suppress(httpx.HTTPError, OSError):
                    self.send(client, counts)

    def wait(self) -> tuple[int, int] | None:
        with self.changed:
            self.changed.wait_for(lambda: self.newest or self.closed)
            counts, self.newest = self.newest, None
            return counts

    def send(self, client: httpx.Client, counts: tuple[int, int]) -> None:
        token = self.server.token_file.read_text().strip()
        body = dict(zip(("done_bytes", "total_bytes"), counts, strict=True))
        client.post("/v1/download-progress", json=body, headers={"authorization": f"Bearer {token}"})


@contextmanager
def reported_progress(server: StatusServer | None, log: Callable[[int, int], None]) -> Iterator[DownloadProgress]:
    """The progress of a download. `log` gets the done and all bytes too. Without a server, only `log` does."""
    if server is None:
        yield DownloadProgress(log)
        return
    reporter = Reporter(server)
    thread = threading.Thread(target=reporter.run, name="download reports", daemon=True)
    thread.start()

    def report(done_bytes: int, total_bytes: int) -> None:
        log(done_bytes, total_bytes)
        reporter.report(done_bytes, total_bytes)

    try:
        yield DownloadProgress(report)
    finally:
        reporter.close()
        thread.join(SEND_SECONDS)

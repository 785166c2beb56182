"""How many bytes of a model have been downloaded."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tqdm.auto import tqdm

REPORT_SECONDS = 5.0


@dataclass
class DownloadProgress:
    """`report` gets the done and all bytes, every few seconds and at the end. Several threads download."""

    report: Callable[[int, int], None]
    done_bytes: int = 0
    total_bytes: int = 0
    reported: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, total_bytes: int, done_bytes: int) -> None:
        with self.lock:
            self.total_bytes, self.done_bytes, self.reported = total_bytes, done_bytes, 0.0
        self.add(0)

    def add(self, num_bytes: int) -> None:
        with self.lock:
            self.done_bytes += num_bytes
            now = time.monotonic()
            due = now - self.reported >= REPORT_SECONDS or self.done_bytes == self.total_bytes
            if due:
                self.reported = now
        if due:
            self.report(self.done_bytes, self.total_bytes)


def make_progress_bar(progress: DownloadProgress) -> type[tqdm]:
    """The hub's client counts with bars of this class. It has one for bytes in files, and others."""
    return make_bar(progress, lambda description: description.startswith("Reconstructing"))


def make_file_bar(progress: DownloadProgress) -> type[tqdm]:
    """The bars of single files, which count nothing else."""
    return make_bar(progress, lambda _: True)


def make_bar(progress: DownloadProgress, counts: Callable[[str], bool]) -> type[tqdm]:

    class CountingBar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts = counts(str(options.get("desc", "")))
            super().__init__(*args, **(options | {"disable": True}))

        def update(self, n: float | None = 1) -> bool | None:
            if self.counts:
                progress.add(int(n or 0))
            return None

    return CountingBar

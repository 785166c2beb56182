"""Large objects of a bucket, fetched in pieces. After a kill, complete pieces are not fetched again."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from s3transfer.utils import S3_RETRYABLE_DOWNLOAD_ERRORS

from trainyard_artifacts.addresses import ArtifactError

PIECE_BYTES = 64 << 20
READ_BYTES = 1 << 20
CONCURRENCY = 4
ATTEMPTS = 5


@dataclass(frozen=True)
class Bucket:
    client: Any
    name: str


class Stopped(Exception):
    """Another piece has failed, or the process ends."""


@dataclass
class PieceDownload:
    """Fills `partial`. `journal` has the number of each complete piece in a line. `add` counts bytes; negative ones are
    fetched again."""

    bucket: Bucket
    key: str
    size: int
    partial: Path
    add: Callable[[int], None]
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def journal(self) -> Path:
        return self.partial.with_suffix(".pieces")

    def run(self) -> None:
        done = self.read_journal()
        self.add(sum(self.measure(index) for index in done))
        missing = [index for index in range(-(-self.size // PIECE_BYTES)) if index not in done]
        file = os.open(self.partial, os.O_RDWR | os.O_CREAT, 0o666)
        threads = ThreadPoolExecutor(CONCURRENCY)
        try:
            list(threads.map(lambda index: self.fetch(file, index), missing))
        finally:
            self.stopped = True
            threads.shutdown(cancel_futures=True)
            os.close(file)

    def measure(self, index: int) -> int:
        return min(PIECE_BYTES, self.size - index * PIECE_BYTES)

    def read_journal(self) -> set[int]:
        """A line that a kill has cut has no end."""
        if not self.partial.is_file() or not self.journal.is_file():
            self.journal.unlink(missing_ok=True)
            return set()
        lines = self.journal.read_text().splitlines(keepends=True)
        return {int(line) for line in lines if line.endswith("\n") and 0 <= int(line) * PIECE_BYTES < self.size}

    def fetch(self, file: int, index: int) -> None:
        for attempts_left in reversed(range(ATTEMPTS)):
            try:
                self.write(file, index)
                break
            except S3_RETRYABLE_DOWNLOAD_ERRORS:
                if attempts_left == 0:
                    raise
        os.fdatasync(file)
        with self.lock, self.journal.open("a") as journal:
            journal.write(f"{index}\n")

    def write(self, file: int, index: int) -> None:
        start, size, written = index * PIECE_BYTES, self.measure(index), 0
        span = f"bytes={start}-{start + size - 1}"
        try:
            body = self.bucket.client.get_object(Bucket=self.bucket.name, Key=self.key, Range=span)["Body"]
            for chunk in body.iter_chunks(READ_BYTES):
                if self.stopped:
                    raise Stopped
                os.pwrite(file, chunk, start + written)
                written += len(chunk)
                self.add(len(chunk))
            if written != size:
                raise ArtifactError(f"the bucket sent {written} bytes of {self.key} instead of {size}")
        except BaseException:
            self.add(-written)
            raise

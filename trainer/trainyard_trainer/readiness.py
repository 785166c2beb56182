"""Tells Kubernetes whether the trainer can claim jobs: a file is there while it can."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Readiness:
    """Without a file nobody asks, and the trainer counts as ready."""

    file: Path | None = None
    is_ready: bool = False

    def __post_init__(self) -> None:
        self.is_ready = self.file is None
        # The file of an earlier process of this pod says nothing about this one.
        if self.file:
            self.file.unlink(missing_ok=True)

    def record(self, is_ready: bool) -> None:
        if self.file is None or is_ready == self.is_ready:
            return
        if is_ready:
            self.file.touch()
        else:
            self.file.unlink(missing_ok=True)
        self.is_ready = is_ready

"""Folders that were fetched from a store, by the digest of what is in them, up to a number of bytes."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

PARTIAL = ".partial"
ABANDONED_SECONDS = 600


class FolderCache:
    """A folder is complete or absent. Several threads may use one; several processes may, too."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes

    def get(self, name: str, fill: Callable[[Path], None]) -> Path:
        """The folder of this name, which `fill` writes if it is not there yet. Counts as its use."""
        folder = self.root / name
        while True:
            try:
                os.utime(folder)
                return folder
            except FileNotFoundError:
                with self.open_partial() as partial:
                    fill(partial)
                    self.keep(partial, name)

    @contextmanager
    def open_partial(self) -> Iterator[Path]:
        """A new folder to write into, for `keep`; gone at the end where it was not kept."""
        partial = self.root / f"{uuid4()}{PARTIAL}"
        partial.mkdir(parents=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def keep(self, partial: Path, name: str) -> None:
        """Gives a finished folder its name, unless somebody was faster."""
        try:
            partial.rename(self.root / name)
        except OSError:
            if not (self.root / name).is_dir():
                raise

    def surplus(self) -> list[Path]:
        """What must go to keep within the bound: those unused for the longest time, and never the one used last."""
        folders = sorted(self.list_folders(), key=lambda folder: folder.stat().st_mtime_ns, reverse=True)
        total, found = 0, []
        for number, folder in enumerate(folders):
            total += sum(path.stat().st_size for path in folder.iterdir())
            if number > 0 and total > self.max_bytes:
                found.append(folder)
        return found[::-1]

    def list_folders(self) -> list[Path]:
        if not self.root.is_dir():
            return []
        return [path for path in self.root.iterdir() if path.is_dir() and path.suffix != PARTIAL]

    def trim(self) -> None:
        for folder in self.surplus():
            self.remove(folder)

    def remove(self, folder: Path) -> None:
        """Nobody sees half of it: it leaves its name first."""
        partial = self.root / f"{uuid4()}{PARTIAL}"
        folder.rename(partial)
        shutil.rmtree(partial, ignore_errors=True)

    def sweep(self) -> None:
        """Removes what a crash left: what nobody has written to for a while."""
        oldest = time.time() - ABANDONED_SECONDS
        for partial in self.root.glob(f"*{PARTIAL}"):
            if max(path.stat().st_mtime for path in [partial, *partial.iterdir()]) < oldest:
                shutil.rmtree(partial, ignore_errors=True)

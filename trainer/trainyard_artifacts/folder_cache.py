"""A size-limited cache of fetched folders, by the digest of their content."""

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
    """A folder is complete or absent. Several threads and processes may use the same cache."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes

    def get(self, name: str, fill: Callable[[Path], None]) -> Path:
        """Returns the folder of this name. If it is missing, `fill` writes it. Counts as a use."""
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
        """Yields a new folder to write into, for `keep`. A folder that was not kept is removed."""
        partial = self.root / f"{uuid4()}{PARTIAL}"
        partial.mkdir(parents=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def keep(self, partial: Path, name: str) -> None:
        """Gives a finished folder its name, unless another process was faster."""
        try:
            partial.rename(self.root / name)
        except OSError:
            if not (self.root / name).is_dir():
                raise

    def surplus(self) -> list[Path]:
        """The folders to remove for the size limit: least recently used first, and never the last used one."""
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
        """Renames the folder first, so that a partial folder is never visible."""
        partial = self.root / f"{uuid4()}{PARTIAL}"
        folder.rename(partial)
        shutil.rmtree(partial, ignore_errors=True)

    def sweep(self) -> None:
        """Removes the remains of a crash: partial folders that were not written to for some time."""
        oldest = time.time() - ABANDONED_SECONDS
        for partial in self.root.glob(f"*{PARTIAL}"):
            if max(path.stat().st_mtime for path in [partial, *partial.iterdir()]) < oldest:
                shutil.rmtree(partial, ignore_errors=True)

"""The rows of a job as tokens in a file. They take more bytes than their text, which may be gigabytes."""

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

from trainyard_trainer.compute.rows.example import Example, make_example
from trainyard_trainer.sft.dataset import Row

TOKEN = np.dtype([("id", np.int64), ("trained", np.bool_)])


class SpooledRows:
    """Each row is read on access. Only the end of each row, in tokens, is in memory.

    Any thread may read, because reading does not move the file's offset.
    """

    def __init__(self, file: BinaryIO, ends: array) -> None:
        self.file = file
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> Example:
        start, stop = self.ends[index - 1] if index else 0, self.ends[index]
        content = os.pread(self.file.fileno(), (stop - start) * TOKEN.itemsize, start * TOKEN.itemsize)
        tokens = np.frombuffer(content, TOKEN)
        return Example(np.ascontiguousarray(tokens["id"]), np.ascontiguousarray(tokens["trained"]), index)

    def __iter__(self) -> Iterator[Example]:
        return (self[index] for index in range(len(self)))


@contextmanager
def spool_rows(rows: Iterable[Row]) -> Iterator[SpooledRows]:
    """Spools rows one at a time, and keeps them until the block ends."""
    # The file has no name, so that nothing is left after a kill.
    with tempfile.TemporaryFile() as file:
        ends, end = array("Q"), 0
        for row in rows:
            file.write(pack_row(row))
            end += len(row.ids)
            ends.append(end)
        file.flush()
        yield SpooledRows(file, ends)


def pack_row(row: Row) -> bytes:
    example = make_example(row.ids, row.trained, 0)
    tokens = np.empty(example.num_tokens, TOKEN)
    tokens["id"], tokens["trained"] = example.ids, example.trained
    return tokens.tobytes()

"""The columnar file of a job's token statistics: Parquet with one row per token.

Numbers are rounded to 16 significant bits (a relative error of at most 2^-16) and their bytes are stored by
significance: the lowest byte of each is nearly empty then, and zstd takes about a third off what full precision needs.
"""

from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trainyard_trainer.statistics.tokens import (
    CLIPPED_HIGH,
    CLIPPED_LOW,
    DROPPED,
    MASKED,
    HistoryIndex,
    TokenStatistics,
)

# The mantissa of a float32 has 23 bits after the leading one.
KEPT_BITS = 15
DROPPED_BITS = 23 - KEPT_BITS

INDEXES = ("gradient_step", "group_index", "trajectory_index", "history_index")
NUMBERS = ("old_logprob", "new_logprob", "ratio", "coefficient", "entropy")
FLAGS = {"masked": MASKED, "clipped_low": CLIPPED_LOW, "clipped_high": CLIPPED_HIGH, "dropped": DROPPED}

SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int32(), nullable=name == "gradient_step") for name in INDEXES),
        pa.field("position", pa.int32(), nullable=False),
        pa.field("token_id", pa.int32(), nullable=False),
        *(pa.field(name, pa.float32()) for name in NUMBERS),
        *(pa.field(name, pa.bool_(), nullable=False) for name in FLAGS),
    ]
)


class Recorded(NamedTuple):
    """The tokens of one history; `step` counts a job's gradient steps from 1, and is None for a dropped history."""

    step: int | None
    history: HistoryIndex
    tokens: TokenStatistics


class TokenFile:
    """Writes row groups to an open file. Only one row group is in memory."""

    def __init__(self, file: BinaryIO, job_id: str, mode: str) -> None:
        self.file = file
        about = {"trainyard.schema": "1", "trainyard.job": job_id, "trainyard.mode": mode}
        self.writer = pq.ParquetWriter(
            file,
            SCHEMA.with_metadata(about),
            compression="zstd",
            use_dictionary=[*INDEXES, "token_id"],  # pyright: ignore[reportArgumentType] - takes names, too
            column_encoding={"position": "DELTA_BINARY_PACKED"} | dict.fromkeys(NUMBERS, "BYTE_STREAM_SPLIT"),
        )

    def write(self, recorded: Sequence[Recorded]) -> None:
        """Appends a row group. Raises OSError, for example on a full disk."""
        self.writer.write_table(tabulate(recorded))

    def finish(self) -> None:
        """Completes the file, which stays open for its reader."""
        self.writer.close()


def tabulate(recorded: Sequence[Recorded]) -> pa.Table:
    tokens = [each.tokens for each in recorded]
    lengths = [len(each.ids) for each in tokens]
    numbers = ("old_logprobs", "new_logprobs", "ratios", "coefficients", "entropies")
    steps = np.repeat([each.step or 0 for each in recorded], lengths)
    flags = np.concatenate([each.flags for each in tokens])
    columns = [
        pa.array(steps, pa.int32(), mask=steps == 0),
        *(repeat_index([each.history[axis] for each in recorded], lengths) for axis in range(3)),
        pa.array(np.concatenate([each.positions for each in tokens]), pa.int32()),
        pa.array(np.concatenate([each.ids for each in tokens]), pa.int32()),
        *(to_nullable(np.concatenate([getattr(each, name) for each in tokens])) for name in numbers),
        *(pa.array((flags & bit) != 0) for bit in FLAGS.values()),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def repeat_index(indexes: list[int], lengths: list[int]) -> pa.Array:
    return pa.array(np.repeat(np.asarray(indexes, np.int32), lengths))


def to_nullable(numbers: NDArray[np.float32]) -> pa.Array:
    """Rounds numbers. Unknown ones become null, because a NaN would make every mean NaN."""
    return pa.array(round_mantissa(numbers), mask=np.isnan(numbers))


def round_mantissa(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """To the nearest float32 whose lowest bits are zero, ties to even."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    is_odd = (bits >> np.uint32(DROPPED_BITS)) & np.uint32(1)
    raised = bits + np.uint32((1 << (DROPPED_BITS - 1)) - 1) + is_odd
    return (raised & np.uint32(0xFFFFFFFF << DROPPED_BITS & 0xFFFFFFFF)).view(np.float32)

"""Counts the rows of an SFT job that cannot be trained on, to warn the client."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.reports.job_warnings import JobWarning, describe_share, head_warnings


@dataclass
class RowCounts:
    """The numbers of rows, of rows without trained tokens, and of rows with more than `limit` tokens; and the number of
    trained tokens."""

    limit: int
    num_rows: int = 0
    num_silent: int = 0
    num_long: int = 0
    num_trained: int = 0

    def add(self, row: Example) -> None:
        self.num_rows += 1
        self.num_silent += not row.num_trained
        self.num_long += row.num_tokens > self.limit
        self.num_trained += row.num_trained if row.num_tokens <= self.limit else 0


def count_rows(rows: Iterable[Example], limit: int, check: Callable[[], None]) -> RowCounts:
    counts = RowCounts(limit)
    for row in rows:
        check()
        counts.add(row)
    return counts


def find_warnings(counts: RowCounts) -> list[JobWarning]:
    """Empty if all rows are trained on."""
    found = list(warn_of_rows(counts))
    return found if counts.num_trained else head_warnings(found, "no_trainable_rows")


def warn_of_rows(counts: RowCounts) -> Iterable[JobWarning]:
    if counts.num_silent:
        share = describe_share(counts.num_silent, counts.num_rows, "rows")
        yield JobWarning("no_answers", f"{share} no assistant message, so there is nothing to train on.")
    if counts.num_long:
        share = describe_share(counts.num_long, counts.num_rows, "rows")
        yield JobWarning("too_long", f"{share} more than {counts.limit} tokens, the base model's maxSequenceLength.")

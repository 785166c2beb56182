"""Counts what an SFT job cannot train on of its rows, to warn the client."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trainyard_trainer import log
from trainyard_trainer.reports.job_warnings import JobWarning, describe_share, head_warnings
from trainyard_trainer.sft.dataset import Row

# What a warning lists.
MAX_LISTED = 10
MAX_NAME_LENGTH = 40
# The log of a job keeps a thousand lines.
MAX_LOGGED = 500
# Rows may have any names of members.
MAX_COUNTED = 1_000


@dataclass
class RowCounts:
    """The numbers of rows, of rows without trained tokens, of rows with more than `limit` tokens, and of rows whose
    reasoning the template leaves out; the number of trained tokens; the first lines that are too long; and in how many
    rows each unread member is."""

    limit: int
    num_rows: int = 0
    num_silent: int = 0
    num_long: int = 0
    num_unreasoned: int = 0
    num_trained: int = 0
    long_lines: list[int] = field(default_factory=list)
    num_with_unread: int = 0
    unread: Counter[str] = field(default_factory=Counter)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Counts the rows that pass."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: Row) -> None:
        self.num_rows += 1
        self.num_silent += not row.num_trained
        self.num_unreasoned += row.drops_reasoning
        self.num_with_unread += bool(row.unread)
        self.unread.update(name for name in row.unread if name in self.unread or len(self.unread) < MAX_COUNTED)
        if len(row.ids) > self.limit:
            self.add_long(row)
        else:
            self.num_trained += row.num_trained

    def add_long(self, row: Row) -> None:
        self.num_long += 1
        if self.num_long <= MAX_LISTED:
            self.long_lines.append(row.line)
        if self.num_long <= MAX_LOGGED:
            log.warn("row left out: too long", line=row.line, tokens=len(row.ids), limit=self.limit)


def find_warnings(counts: RowCounts) -> list[JobWarning]:
    """Empty if all rows are trained on as they are."""
    found = list(warn_of_rows(counts))
    return [*(found if counts.num_trained else head_warnings(found, "no_trainable_rows")), *warn_of_members(counts)]


def warn_of_rows(counts: RowCounts) -> Iterable[JobWarning]:
    if counts.num_silent:
        share = describe_share(counts.num_silent, counts.num_rows, "rows")
        yield JobWarning(
            "no_answers", f"{share} no assistant message that is trained, so there is nothing to train on."
        )
    if counts.num_long:
        share = describe_share(counts.num_long, counts.num_rows, "rows")
        lines = list_some([f"{line}" for line in counts.long_lines], counts.num_long)
        yield JobWarning(
            "too_long",
            f"{share} more than {counts.limit} tokens, the base model's maxSequenceLength: "
            f"{'line' if counts.num_long == 1 else 'lines'} {lines}.",
        )


def warn_of_members(counts: RowCounts) -> Iterable[JobWarning]:
    if counts.num_unreasoned:
        share = describe_share(counts.num_unreasoned, counts.num_rows, "rows")
        yield JobWarning(
            "reasoning_dropped",
            f"{share} reasoning that the base model's chat template leaves out, so it is not trained.",
        )
    if counts.num_with_unread:
        share = describe_share(counts.num_with_unread, counts.num_rows, "rows")
        names = sorted(counts.unread.items(), key=lambda entry: (-entry[1], entry[0]))
        listed = [f"{name[:MAX_NAME_LENGTH]} ({count})" for name, count in names[:MAX_LISTED]]
        yield JobWarning(
            "members_ignored", f"{share} members that training does not read: {list_some(listed, len(names))}."
        )


def list_some(shown: list[str], total: int) -> str:
    """`1, 2 and 3 more`."""
    text = ", ".join(shown)
    return f"{text} and {total - len(shown)} more" if total > len(shown) else text

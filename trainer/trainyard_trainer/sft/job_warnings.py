"""What of an SFT job's rows cannot be trained on, counted for whoever sent them."""

from collections.abc import Iterable, Sequence

from trainyard_trainer.compute.example import Example
from trainyard_trainer.reports.job_warnings import JobWarning, head_warnings, tell_share


def find_warnings(rows: Sequence[Example], max_length: int) -> list[JobWarning]:
    """Empty where all rows are trained on."""
    found = list(warn_of_rows(rows, max_length))
    is_trained = any(row.num_trained and row.num_tokens <= max_length for row in rows)
    return found if is_trained else head_warnings(found, "no_trainable_rows")


def warn_of_rows(rows: Sequence[Example], max_length: int) -> Iterable[JobWarning]:
    if silent := sum(not row.num_trained for row in rows):
        share = tell_share(silent, len(rows), "rows")
        yield JobWarning("no_answers", f"{share} no assistant message, and so nothing to learn.")
    if long := sum(row.num_tokens > max_length for row in rows):
        share = tell_share(long, len(rows), "rows")
        yield JobWarning("too_long", f"{share} more than {max_length} tokens, the base model's maxSequenceLength.")

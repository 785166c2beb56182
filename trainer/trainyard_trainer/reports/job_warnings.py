"""Warnings of a job that succeeds, but was trained on nothing or on only a part of its data."""

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard_trainer import log
from trainyard_trainer.reports.text import make_sendable

# The status server truncates messages to this length.
MAX_MESSAGE_LENGTH = 500


@dataclass(frozen=True)
class JobWarning:
    """`code` is one of docs/jobs.md. The message is a sentence that says what to do."""

    code: str
    message: str


def head_warnings(warnings: Sequence[JobWarning], code: str) -> list[JobWarning]:
    """Warnings of a job that trains on nothing: first one sentence with all causes, and then each cause with its own
    code."""
    causes = " ".join(warning.message for warning in warnings) or "no answer has a token to train on."
    return [JobWarning(code, f"Nothing was trained: {causes}"), *warnings]


def present_warnings(warnings: Sequence[JobWarning]) -> dict[str, list[dict]]:
    """The warnings as a member of a report. They are also logged. Empty without warnings."""
    for warning in warnings:
        log.warn("job warning", code=warning.code, text=warning.message)
    found = [
        {"code": warning.code, "message": make_sendable(warning.message, MAX_MESSAGE_LENGTH)} for warning in warnings
    ]
    return {"warnings": found} if found else {}


def describe_share(count: int, total: int, things: str) -> str:
    """`1 of 2 trajectories has`, `2 of 2 trajectories have`."""
    return f"{count} of {total} {things} {'has' if count == 1 else 'have'}"

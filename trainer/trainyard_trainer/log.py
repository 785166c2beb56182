"""Log lines on standard output: JSON objects with a constant message and fields. A job's own log gets a copy."""

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

# Each listener gets the time, level and text of a line.
Listener = Callable[[str, str, str], None]
# Jobs run at the same time, each in its own context. A thread that works for a job runs in a copy of the job's context.
LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def copied_to(listener: Listener) -> Iterator[None]:
    """The listener also gets everything that is logged inside of the block, and in copies of its context."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)


def write_line(level: str, message: str, fields: dict, error: str = "") -> None:
    time = datetime.now(UTC).isoformat()
    record = {"time": time, "level": level, "message": message, **fields, **({"error": error} if error else {})}
    sys.stdout.write(json.dumps(record, default=str) + "\n")
    sys.stdout.flush()
    text = " ".join([message, *(f"{name}={value}" for name, value in fields.items())])
    if listener := LISTENER.get():
        listener(time, level, f"{text}\n{error}".rstrip())


def info(message: str, **fields: object) -> None:
    write_line("info", message, fields)


def warn(message: str, **fields: object) -> None:
    write_line("warn", message, fields)


def error(message: str, cause: BaseException, **fields: object) -> None:
    """Includes the cause's traceback, for unexpected errors."""
    write_line("error", message, fields, "".join(traceback.format_exception(cause)))

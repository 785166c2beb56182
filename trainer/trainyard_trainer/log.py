"""Log lines: one JSON object each, on standard output, a constant message plus fields."""

import json
import sys
import traceback
from datetime import UTC, datetime


def write_line(level: str, message: str, fields: dict) -> None:
    record = {"time": datetime.now(UTC).isoformat(), "level": level, "message": message, **fields}
    sys.stdout.write(json.dumps(record, default=str) + "\n")
    sys.stdout.flush()


def info(message: str, **fields: object) -> None:
    write_line("info", message, fields)


def warn(message: str, **fields: object) -> None:
    write_line("warn", message, fields)


def error(message: str, cause: BaseException, **fields: object) -> None:
    """With the cause's traceback, for what nobody foresaw."""
    write_line("error", message, fields | {"error": "".join(traceback.format_exception(cause))})

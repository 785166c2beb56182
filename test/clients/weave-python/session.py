"""The start and the end of every script in this folder.

The environment names the server, the key and, as WEAVE_PROJECT, the project. A script prints its results as a JSON
object in its last line. `complaints` has the warnings and errors that the SDK logged: it drops data that a server
rejects, without raising an exception.
"""

import json
import logging
import os
from typing import Any

import weave

complaints: list[str] = []


class Keep(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complaints.append(record.getMessage())


def begin() -> Any:
    client = weave.init(os.environ["WEAVE_PROJECT"])
    # After init, which installs its own handler.
    logging.getLogger("weave").addHandler(Keep(level=logging.WARNING))
    return client


def end(facts: dict[str, Any]) -> None:
    weave.finish()
    print(json.dumps({**facts, "complaints": complaints}, default=str))


def plain(value: Any) -> Any:
    """Converts boxed values, records and lists of the SDK to plain ones."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple) or type(value).__name__ == "WeaveList":
        return [plain(part) for part in value]
    return value


def name_of(op_name: str) -> str:
    """Returns `add` for `weave:///entity/project/op/add:DIGEST`."""
    return op_name.rsplit("/", 1)[-1].split(":")[0]

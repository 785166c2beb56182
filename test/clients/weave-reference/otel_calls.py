"""Converts OpenTelemetry spans to calls with the package weave.

Reads lines of base64. Each is a protobuf ResourceSpans with one span. Prints a line of JSON for each: the parts of the
call, `rejected` with the reason, or `fault` with the error that would fail the whole request.
"""

import base64
import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

os.environ.update(WANDB_ERROR_REPORTING="false", WEAVE_DISABLED="true", TZ="UTC")
time.tzset()

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans  # noqa: E402
from weave.trace_server.opentelemetry.helpers import AttributePathConflictError  # noqa: E402
from weave.trace_server.opentelemetry.python_spans import Resource, Span  # noqa: E402

PROJECT = "e/p"


def stamp(instant: datetime) -> str:
    """Formats a time. Times without a zone are local, which is UTC here."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def make_call(line: str) -> dict[str, Any]:
    spans = ResourceSpans.FromString(base64.b64decode(line))
    resource = Resource.from_proto(spans.resource)
    span = Span.from_proto(spans.scope_spans[0].spans[0], resource)
    start, end = span.to_call(PROJECT)
    start_names = "id trace_id op_name display_name parent_id thread_id turn_id attributes inputs wb_run_step"
    run_id = start.wb_run_id and start.wb_run_id.replace(f"{PROJECT}:", f"{PROJECT}/")
    dump = dict(start.otel_dump or {}, start_time=stamp(span.start_time), end_time=stamp(span.end_time))
    return {
        **{name: getattr(start, name) for name in start_names.split()},
        "started_at": stamp(start.started_at),
        "wb_run_id": run_id,
        "otel_dump": dump,
        "ended_at": stamp(end.ended_at),
        "exception": end.exception,
        "output": end.output,
        "usage": end.summary["usage"],
        "wb_run_step_end": end.wb_run_step_end,
    }


def encode(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value))


for line in sys.stdin:
    try:
        made = make_call(line)
    except AttributePathConflictError as error:
        made = {"rejected": str(error)}
    except Exception as error:
        made = {"fault": repr(error)}
    print(json.dumps(made, default=encode))

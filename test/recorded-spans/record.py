"""Runs a program beside an engine with fixed answers, and records the spans that the program exports.

    record.py NAME COMMAND...

The program finds the engine in OPENAI_BASE_URL and the receiver of spans in OTEL_EXPORTER_OTLP_ENDPOINT. What it sends is
written to recordings/NAME.json: one ExportTraceServiceRequest, as OTLP writes it in JSON.
"""

import base64
import gzip
import json
import os
import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

FOLDER = Path(__file__).parent / "recordings"
ANSWER = "It is 7 degrees in Oslo."
USAGE = {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}
# Others describe the machine.
RESOURCE_KEYS = ("service.name", "telemetry.sdk.name", "telemetry.sdk.language", "telemetry.sdk.version")

resource_spans: list[dict[str, Any]] = []
lock = Lock()


def choose_message(asked: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Calls the first tool for Oslo, and answers with a sentence after its result or without tools."""
    tools, messages = asked.get("tools"), asked["messages"]
    if not tools or messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": ANSWER}, "stop"
    function = {"name": tools[0]["function"]["name"], "arguments": '{"city": "Oslo"}'}
    call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def complete(asked: dict[str, Any]) -> dict[str, Any]:
    message, reason = choose_message(asked)
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    common = {"id": "chat-1", "object": "chat.completion", "created": 1, "model": asked["model"]}
    return {**common, "choices": [choice], "usage": USAGE}


def stream(asked: dict[str, Any]) -> str:
    message, reason = choose_message(asked)
    calls = [{**call, "index": 0} for call in message.get("tool_calls", [])]
    words = [{"content": f"{word} "} for word in (message["content"] or "").split()]
    deltas = [{"role": "assistant", "content": ""}, *words, *({"tool_calls": [call]} for call in calls)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": reason}])
    common = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
    chunks = [{**common, "choices": choice} for choice in choices] + [{**common, "choices": [], "usage": USAGE}]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Handler(BaseHTTPRequestHandler):
    """The engine and the receiver of spans."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = self.headers.get("content-length")
        body = self.rfile.read(int(length)) if length else self.read_chunks()
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path.endswith("/v1/traces"):
            request = ExportTraceServiceRequest.FromString(body)
            with lock:
                resource_spans.extend(MessageToDict(request)["resourceSpans"])
            return self.answer("application/x-protobuf", b"")
        if self.path.endswith("/v1/metrics"):
            return self.answer("application/x-protobuf", b"")
        asked = json.loads(body)
        if asked.get("stream"):
            return self.answer("text/event-stream", stream(asked).encode())
        return self.answer("application/json", json.dumps(complete(asked)).encode())

    def read_chunks(self) -> bytes:
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(self, media_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def clean(group: dict[str, Any]) -> dict[str, Any]:
    """OTLP's JSON has ids in hexadecimal. Protobuf's JSON has base64."""
    attributes = [each for each in group["resource"]["attributes"] if each["key"] in RESOURCE_KEYS]
    scopes = [{**scope, "spans": [clean_span(span) for span in scope["spans"]]} for scope in group["scopeSpans"]]
    return {"resource": {"attributes": attributes}, "scopeSpans": scopes}


def clean_span(span: dict[str, Any]) -> dict[str, Any]:
    ids = {key: base64.b64decode(span[key]).hex() for key in ("traceId", "spanId", "parentSpanId") if key in span}
    kinds = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
    kind = 1 + kinds.index(span["kind"].removeprefix("SPAN_KIND_")) if "kind" in span else 0
    codes = {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
    status = {**span["status"], "code": codes[span["status"]["code"]]} if "code" in span.get("status", {}) else {}
    # Where the program stands on this machine is no part of what it did.
    attributes = [each for each in span.get("attributes", []) if not each["key"].startswith("code.")]
    return {**span, **ids, "kind": kind, "status": status, "attributes": attributes}


def main(name: str, *command: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    env = {
        **os.environ,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "any",
        "MODEL": "tiny-chat",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": name,
    }
    subprocess.run(command, env=env, check=True, timeout=300)
    groups = ",\n".join(json.dumps(clean(group)) for group in resource_spans)
    text = f'{{"resourceSpans": [\n{groups}\n]}}'
    text = text.replace(url, "http://127.0.0.1:8000").replace(str(server.server_port), "8000")
    foreign = [each for each in (socket.gethostname(), str(Path.home()), str(Path.cwd())) if each in text]
    if foreign:
        raise SystemExit(f"the recording names {foreign}")
    (FOLDER / f"{name}.json").write_text(text + "\n")


main(*sys.argv[1:])

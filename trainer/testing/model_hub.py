"""A hub of models on this machine. It answers what the real hub's client asks for a model's files. A pytest plugin.

GET  /api/models/ID/revision/REVISION        the commit of a branch, a tag or a commit
GET  /api/models/ID/tree/COMMIT              the files, with their sizes
HEAD /ID/resolve/COMMIT/PATH                 size and digest of a file
GET  /ID/resolve/COMMIT/PATH                 the file, or with Range its rest
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from huggingface_hub import constants

from trainyard_engine import __main__ as engine
from trainyard_trainer import __main__ as trainer


@dataclass
class Hub:
    """One model. `cut_after` ends each answer with a file after so many bytes, `bytes_per_second` slows it down."""

    address: str
    commits: dict[str, Path] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    gated: bool = False
    cut_after: int | None = None
    bytes_per_second: int | None = None
    #: methods, paths and ranges
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def push(self, folder: Path) -> str:
        """Makes a commit of the folder's files, to which `main` points."""
        content = b"".join(hashlib.sha256(file.read_bytes()).digest() for file in sorted(list_files(folder)))
        commit = hashlib.sha1(content).hexdigest()
        self.commits[commit] = folder
        self.tags["main"] = commit
        return commit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self.answer(has_body=False)

    def do_GET(self) -> None:
        self.answer(has_body=True)

    def answer(self, *, has_body: bool) -> None:
        path = unquote(self.path.partition("?")[0])
        self.hub.asked.append((self.command, path, self.headers.get("range", "")))
        if path.startswith("/api/models/"):
            self.answer_api(path)
        else:
            self.answer_file(path, has_body=has_body)

    def answer_api(self, path: str) -> None:
        name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
        commit = self.hub.tags.get(revision, revision) or path.rpartition("/")[2]
        folder = self.hub.commits.get(commit)
        if folder is None:
            self.send(404, {"x-error-code": "RevisionNotFound"})
        elif revision:
            self.send_json({"id": name, "sha": commit, "siblings": [], "private": False})
        else:
            self.send_json([describe_file(folder, file) for file in list_files(folder)])

    def answer_file(self, path: str, *, has_body: bool) -> None:
        commit, _, name = path.partition("/resolve/")[2].partition("/")
        file = self.hub.commits[commit] / name
        if self.hub.gated:
            self.send(403, {"x-error-code": "GatedRepo"})
        elif not file.is_file():
            self.send(404, {"x-error-code": "EntryNotFound"})
        else:
            self.send_file(file.read_bytes(), commit, has_body=has_body)

    def send_file(self, content: bytes, commit: str, *, has_body: bool) -> None:
        headers = {"etag": f'"{hashlib.sha256(content).hexdigest()}"', "x-repo-commit": commit}
        start = int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        if start:
            headers["content-range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        self.send(206 if start else 200, headers, body if has_body else b"", length=len(body))

    def send_json(self, value: object) -> None:
        self.send(200, {"content-type": "application/json"}, json.dumps(value).encode())

    def send(self, status: int, headers: dict[str, str], body: bytes = b"", length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        sent = body[: self.hub.cut_after] if status in (200, 206) and length else body
        for start in range(0, len(sent), 16_384):
            self.wfile.write(sent[start : start + 16_384])
            if length and self.hub.bytes_per_second:
                time.sleep(16_384 / self.hub.bytes_per_second)
        self.close_connection = len(sent) < len(body)

    def log_message(self, *_: object) -> None:
        pass


def list_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.is_file()]


def describe_file(folder: Path, file: Path) -> dict:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {
        "type": "file",
        "path": str(file.relative_to(folder)),
        "size": len(content),
        "oid": digest[:40],
        "lfs": {"oid": digest, "size": len(content), "pointerSize": 134},
    }


def run_trainer() -> None:
    """`python -m trainyard_trainer` in a process that imported the hub's client with another environment."""
    use_hub()
    trainer.main()


def run_engine() -> None:
    """The same for `python -m trainyard_engine`."""
    use_hub()
    engine.main()


def use_hub() -> None:
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.removeprefix(constants.ENDPOINT)
    constants.ENDPOINT, constants.HF_HUB_CACHE = os.environ["HF_ENDPOINT"], os.environ["HF_HUB_CACHE"]
    constants.HUGGINGFACE_CO_URL_TEMPLATE = constants.ENDPOINT + template


@pytest.fixture
def hub() -> Iterator[Hub]:
    handler = type("HubHandler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.hub = Hub(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield handler.hub
    server.shutdown()
    server.server_close()

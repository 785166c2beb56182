"""A status server with scripted answers, which keeps the requests. A pytest plugin."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from trainyard_trainer.reports.status_client import StatusClient


class ScriptedServer(ThreadingHTTPServer):
    """Answers with the given statuses one after the other, and repeats the last one. `respond` may answer by path and
    body."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [(200, {})]
        self.respond: Callable[[str, dict], tuple[int, dict]] | None = None
        self.requests = []
        self.asking = threading.local()  # the connection of the request that a thread answers

    def bodies_of(self, name):
        return [body for path, _, body in list(self.requests) if path.endswith(f"/{name}")]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, self.headers["authorization"], body))
        self.server.asking.connection = self.connection
        answers = self.server.answers
        if self.server.respond:
            status, content = self.server.respond(self.path, body)
        else:
            status, content = answers.pop(0) if len(answers) > 1 else answers[0]
        payload = b"" if status == 204 else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(payload)))
        with suppress(ConnectionError):  # tests kill clients
            self.end_headers()
            self.wfile.write(payload)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ScriptedServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(server, tmp_path):
    token = tmp_path / "token"
    token.write_text("first\n")
    return StatusClient(f"http://127.0.0.1:{server.server_port}", token)

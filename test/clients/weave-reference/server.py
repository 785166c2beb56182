"""The reference trace server of the PyPI package weave, unchanged, behind HTTP.

    python server.py [--port 0] [--user USER] [--database FILE]

Prints one line of JSON, {"url": …}, once it listens. Ends on SIGTERM. USER is the wb_user_id of all records. Without
FILE everything stays in memory.

The package's own router and SQLite server do the work. As in the package's own tests, an adapter in front of the server
converts external ids to internal ones and back, and fills in the user. This script adds JSON lines for streams, the
status codes of the package's table of errors, and routes that the server supports but the router lacks. Digests are
those of newer releases (see `digest_as_sent`).
"""

import argparse
import json
import os
import socket
import sqlite3
import sys
import tempfile
import types
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any
from urllib.parse import quote, unquote

# Disables all reporting.
os.environ.update(WANDB_ERROR_REPORTING="false", WEAVE_DISABLED="true")

# The worker for evaluations needs dozens of packages, and nothing here starts it.
worker = types.ModuleType("evaluate_model_worker")
worker.EvaluateModelArgs = worker.EvaluateModelDispatcher = object
sys.modules["weave.trace_server.workers.evaluate_model_worker.evaluate_model_worker"] = worker

import httpx  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response  # noqa: E402
from fastapi.exceptions import RequestValidationError  # noqa: E402
from fastapi.responses import JSONResponse  # noqa: E402
from fastapi.routing import APIRoute  # noqa: E402
from fastapi.security import HTTPBasic, HTTPBasicCredentials  # noqa: E402
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from weave.trace_server import sqlite_trace_server  # noqa: E402
from weave.trace_server import trace_server_interface as tsi  # noqa: E402
from weave.trace_server.errors import handle_server_exception  # noqa: E402
from weave.trace_server.external_to_internal_trace_server_adapter import (  # noqa: E402
    ExternalTraceServer,
    IdConverter,
)
from weave.trace_server.reference.generate import AuthParams, ServiceDependency, generate_routes  # noqa: E402
from weave.trace_server.trace_server_interface_util import str_digest  # noqa: E402
from weave.trace_server.trace_service import ServerInfoRes  # noqa: E402

INTERNAL_REF = "weave-trace-internal:///"


class KeptIds(IdConverter):
    """Users and runs keep their ids. Projects lose their slash, because the store's references cannot contain it."""

    def ext_to_int_project_id(self, project_id: str) -> str:
        return quote(project_id, safe="")

    def int_to_ext_project_id(self, project_id: str) -> str:
        return unquote(project_id)

    def _keep(self, id: str) -> str:
        return id

    ext_to_int_run_id = int_to_ext_run_id = ext_to_int_user_id = int_to_ext_user_id = _keep


def digest_as_other(stored: str) -> str:
    """Computes the digest over sorted keys, as releases since 0.53 do, and over the other server's internal references."""
    value = convert_refs(json.loads(stored))
    return str_digest(json.dumps(value, sort_keys=True))


def convert_refs(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: convert_refs(member) for key, member in value.items()}
    if isinstance(value, list):
        return [convert_refs(member) for member in value]
    if isinstance(value, str) and value.startswith(INTERNAL_REF):
        project, _, rest = value[len(INTERNAL_REF) :].partition("/")
        number = find_other_id(unquote(project))
        return f"{INTERNAL_REF}{number}/{rest}" if number else f"weave:///{unquote(project)}/{rest}"
    return value


@cache
def find_other_id(project: str) -> str | None:
    url, key = os.environ.get("OTHER_URL"), os.environ.get("OTHER_KEY")
    if not url:
        return None
    body = {"project_ids": [project]}
    answer = httpx.post(f"{url}/service/projects_info", json=body, auth=("api", key or ""), timeout=60)
    return next((found["internal_project_id"] for found in answer.raise_for_status().json()), None)


sqlite_trace_server.str_digest = digest_as_other


def write_lines(rows: Iterable[BaseModel]) -> Iterator[str]:
    """Writes JSON lines. Reads all rows first, because an error must come before the first line."""
    lines = [row.model_dump_json() + "\n" for row in rows]
    return iter(lines)


class Server(ExternalTraceServer):
    """The adapter, with one user for all requests and with streams as text."""

    def __init__(self, store: sqlite_trace_server.SqliteTraceServer, user: str):
        super().__init__(store, KeptIds())
        self._user = user

    def call_start(self, req: tsi.CallStartReq) -> tsi.CallStartRes:
        req.start.wb_user_id = self._user
        return super().call_start(req)

    def call_start_batch(self, req: tsi.CallCreateBatchReq) -> tsi.CallCreateBatchRes:
        items = (item.req for item in req.batch)
        res = [self.call_start(item) if isinstance(item, tsi.CallStartReq) else self.call_end(item) for item in items]
        return tsi.CallCreateBatchRes(res=res)

    def calls_delete(self, req: tsi.CallsDeleteReq) -> tsi.CallsDeleteRes:
        req.wb_user_id = self._user
        return super().calls_delete(req)

    def call_update(self, req: tsi.CallUpdateReq) -> tsi.CallUpdateRes:
        req.wb_user_id = self._user
        return super().call_update(req)

    def obj_create(self, req: tsi.ObjCreateReq) -> tsi.ObjCreateRes:
        req.obj.wb_user_id = self._user
        return super().obj_create(req)

    def feedback_create(self, req: tsi.FeedbackCreateReq) -> tsi.FeedbackCreateRes:
        req.wb_user_id = self._user
        return super().feedback_create(req)

    def feedback_create_batch(self, req: tsi.FeedbackCreateBatchReq) -> tsi.FeedbackCreateBatchRes:
        for item in req.batch:
            item.wb_user_id = self._user
        return super().feedback_create_batch(req)

    def feedback_replace(self, req: tsi.FeedbackReplaceReq) -> tsi.FeedbackReplaceRes:
        req.wb_user_id = self._user
        return super().feedback_replace(req)

    def otel_export(self, req: tsi.OtelExportReq) -> tsi.OtelExportRes:
        # This bypasses the adapter, which would convert the fields of the protobuf message to values.
        req.project_id = self._idc.ext_to_int_project_id(req.project_id)
        req.wb_user_id = self._user
        return self._internal_trace_server.otel_export(req)

    def calls_query_stream(self, req: tsi.CallsQueryReq) -> Iterator[str]:
        return write_lines(super().calls_query_stream(req))

    def table_query_stream(self, req: tsi.TableQueryReq) -> Iterator[str]:
        return write_lines(super().table_query_stream(req))

    def threads_query_stream(self, req: tsi.ThreadsQueryReq) -> Iterator[str]:
        return write_lines(super().threads_query_stream(req))


class Service:
    """The service that the package's router needs."""

    def __init__(self, server: Server):
        self.trace_server_interface = server

    def server_info(self) -> ServerInfoRes:
        return ServerInfoRes(min_required_weave_python_version="0.0.1")

    def read_root(self) -> dict[str, str]:
        return {"status": "ok"}


def add_missing_routes(router: APIRouter, server: Server) -> APIRouter:
    @router.post("/table/create_from_digests")
    def create_from_digests(req: tsi.TableCreateFromDigestsReq) -> tsi.TableCreateFromDigestsRes:
        return server.table_create_from_digests(req)

    @router.post("/table/query_stats_batch")
    def query_stats_batch(req: tsi.TableQueryStatsBatchReq) -> tsi.TableQueryStatsBatchRes:
        return server.table_query_stats_batch(req)

    @router.post("/feedback/batch/create")
    def feedback_batch_create(req: tsi.FeedbackCreateBatchReq) -> tsi.FeedbackCreateBatchRes:
        return server.feedback_create_batch(req)

    @router.post("/otel/v1/traces")
    async def export_traces(request: Request) -> Response:
        traces = ExportTraceServiceRequest.FromString(await request.body())
        server.otel_export(tsi.OtelExportReq(project_id=request.headers["project_id"], traces=traces))
        return Response(media_type="application/x-protobuf")

    return router


opened: ContextVar[list[sqlite3.Connection]] = ContextVar("opened")


def open_connection(path: str) -> tuple[sqlite3.Connection, sqlite3.Cursor]:
    """Opens a connection as the store does. Its request closes it: after an error, an open one would keep its lock."""
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.create_function("reverse", 1, lambda text: text[::-1])
    opened.get().append(connection)
    return connection, connection.cursor()


sqlite_trace_server.get_conn_cursor = open_connection


class Route(APIRoute):
    """Answers errors by the package's own table, and closes the connections of the request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_answer(request: Request) -> Response:
            connections: list[sqlite3.Connection] = []
            opened.set(connections)
            try:
                return await handle(request)
            except (HTTPException, RequestValidationError):
                raise
            except Exception as error:
                answer = handle_server_exception(error)
                return JSONResponse(answer.message, status_code=answer.status_code)
            finally:
                for connection in connections:
                    connection.rollback()
                    connection.close()

        return handle_or_answer


def require_key(_credentials: HTTPBasicCredentials = Depends(HTTPBasic())) -> AuthParams:  # noqa: B008
    return AuthParams()


def create_app(server: Server) -> FastAPI:
    app = FastAPI()
    dependency = ServiceDependency(lambda _auth: Service(server), require_key)
    router = generate_routes(APIRouter(route_class=Route), dependency)
    app.include_router(add_missing_routes(router, server))
    return app


def open_store(file: str | None) -> sqlite_trace_server.SqliteTraceServer:
    path = file or os.path.join(tempfile.mkdtemp(dir=memory_folder()), "traces.db")
    sqlite3.connect(path).execute("PRAGMA journal_mode = WAL")
    store = sqlite_trace_server.SqliteTraceServer(path)
    opened.set([])
    store.setup_tables()
    return store


def memory_folder() -> str | None:
    """A folder for files in memory. SQLite's own in-memory databases reject readers while a writer is active."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--user", default="reference-user")
    options.add_argument("--database")
    given = options.parse_args()

    listener = socket.create_server(("127.0.0.1", given.port))
    app = create_app(Server(open_store(given.database), given.user))
    # The store prints about each request. Nobody reads the pipe after the first line, so it would fill up.
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    print(json.dumps({"url": url}), flush=True)
    sys.stdout = open(os.devnull, "w")
    uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()

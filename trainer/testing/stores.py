"""Stores of both kinds for tests. The caller sets the path of the S3 server's program (test/run.ts does)."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from trainyard_artifacts.settings import StoreSettings

BUCKET = "artifacts"
START_SECONDS = 15


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running S3 server with an empty bucket. Its credentials are in AWS's environment variables."""
    program = os.environ.get("TRAINYARD_TEST_S3_SERVER")
    if not program:
        pytest.skip("TRAINYARD_TEST_S3_SERVER names no S3 server")
    root = tmp_path_factory.mktemp("s3")
    for name in ("metadata", f"buckets/{BUCKET}"):
        (root / name).mkdir(parents=True)
    port = find_free_port()
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = "tests", str(uuid4())
    account = {"ROOT_ACCESS_KEY": "tests", "ROOT_SECRET_KEY": os.environ["AWS_SECRET_ACCESS_KEY"]}
    arguments = ["--port", f"127.0.0.1:{port}", "--keep-alive", "--quiet", "posix", "--sidecar"]
    command = [program, *arguments, root / "metadata", root / "buckets"]
    with subprocess.Popen(command, env=account, stdout=subprocess.DEVNULL) as server:
        try:
            wait_for_port(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


@pytest.fixture
def s3_settings(s3_endpoint: str, tmp_path: Path) -> StoreSettings:
    """An empty store on S3."""
    return StoreSettings(f"s3://{BUCKET}/{uuid4()}", s3_endpoint, cache=tmp_path / "cache")


@pytest.fixture(params=["folder", "s3"])
def store_settings(request: pytest.FixtureRequest, tmp_path: Path) -> StoreSettings:
    """An empty store of either kind."""
    if request.param == "s3":
        return request.getfixturevalue("s3_settings")
    return StoreSettings(str(tmp_path / "store"))


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)

"""Downloads from a hub on this machine, in processes of their own: the hub's client reads its address at its import."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.model_hub import list_files

MIB = 2**20  # the hub's client writes pieces of ten
TRAINER = Path(__file__).parents[1]
FETCH = """
import json, sys
from trainyard_base_model.download import Repository, fetch_base_model
from trainyard_base_model.download_progress import DownloadProgress
from trainyard_base_model.start_failure import StartFailure
seen = []
try:
    folder = fetch_base_model(Repository("org/model", sys.argv[1]), DownloadProgress(lambda *each: seen.append(each)))
    print(json.dumps({"folder": folder, "seen": seen}))
except StartFailure as cause:
    print(json.dumps({"reason": cause.reason, "message": cause.message}))
"""


@pytest.fixture
def start(hub, tmp_path):
    def start(revision: str, **env: str) -> subprocess.Popen:
        given = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0", **env}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([sys.executable, "-c", FETCH, revision], cwd=TRAINER, env=os.environ | given, **pipes)

    return start


@pytest.fixture
def fetch(start):
    def fetch(revision: str, **env: str) -> dict:
        process = start(revision, **env)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return json.loads(output.splitlines()[-1])

    return fetch


@pytest.fixture
def push(hub, tmp_path):
    def push(**files: bytes) -> str:
        folder = tmp_path / f"commit{len(hub.commits)}"
        folder.mkdir()
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_bytes(content)
        return hub.push(folder)

    return push


def test_a_pinned_commit_is_fetched_after_the_next_was_pushed(fetch, push, hub):
    first = push(config__json=b"{}", model__safetensors=b"first", pytorch_model__bin=b"the same", modeling__py=b"1")
    push(config__json=b"{}", model__safetensors=b"second", modeling__py=b"2")
    found = fetch(first)
    contents = {file.name: file.read_bytes() for file in list_files(Path(found["folder"]))}
    assert contents == {"config.json": b"{}", "model.safetensors": b"first", "modeling.py": b"1"}
    assert found["seen"][-1] == [8, 8]
    hub.asked.clear()
    assert fetch(first)["folder"] == found["folder"]
    assert hub.asked == []
    assert fetch(first, HF_HUB_OFFLINE="1")["folder"] == found["folder"]


def test_a_tag_is_resolved(fetch, push, hub):
    hub.tags["v1"] = push(config__json=b"{}", model__safetensors=b"first")
    push(config__json=b"{}", model__safetensors=b"second")
    assert (Path(fetch("v1")["folder"]) / "model.safetensors").read_bytes() == b"first"


def test_a_download_that_breaks_off_is_resumed(fetch, push, hub):
    content = os.urandom(12 * MIB)
    commit = push(config__json=b"{}", model__safetensors=content)
    hub.cut_after = 11 * MIB
    found = fetch(commit)
    assert (Path(found["folder"]) / "model.safetensors").read_bytes() == content
    ranges = [span for method, path, span in hub.asked if method == "GET" and path.endswith(".safetensors")]
    assert ranges == ["", f"bytes={10 * MIB}-"]
    assert found["seen"][-1] == [len(content) + 2] * 2


def test_a_process_continues_the_download_of_one_that_was_killed(start, fetch, push, hub, tmp_path):
    content = os.urandom(32 * MIB)
    commit = push(config__json=b"{}", model__safetensors=content)
    hub.bytes_per_second = 40 * MIB
    killed = start(commit)
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while not any(file.stat().st_size >= 10 * MIB for file in tmp_path.rglob("*.partial")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    hub.asked.clear()
    hub.bytes_per_second = None
    found = fetch(commit)
    assert (Path(found["folder"]) / "model.safetensors").read_bytes() == content
    ranges = [span for method, path, span in hub.asked if method == "GET" and path.endswith(".safetensors")]
    assert ranges in ([f"bytes={10 * MIB}-"], [f"bytes={20 * MIB}-"])
    assert found["seen"][-1] == [len(content) + 2] * 2


def test_a_part_with_a_wrong_digest_is_fetched_anew(fetch, push, hub, tmp_path):
    content = os.urandom(12 * MIB)
    commit = push(config__json=b"{}", model__safetensors=content)
    digest = hashlib.sha256(content).hexdigest()
    part = tmp_path / "hf" / "hub" / "models--org--model" / "blobs" / f"{digest}.partial"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"another" * 1000)
    found = fetch(commit)
    assert (Path(found["folder"]) / "model.safetensors").read_bytes() == content
    assert not part.exists()


def test_a_download_ends_at_once_when_its_process_is_stopped(start, push, hub):
    commit = push(config__json=b"{}", model__safetensors=os.urandom(4 * MIB))
    hub.bytes_per_second = 64 * 1024
    process = start(commit)
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while not any(method == "GET" and path.endswith(".safetensors") for method, path, _ in hub.asked):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(MAX_WAIT_SECONDS) == 0
    assert time.monotonic() < deadline


@pytest.mark.parametrize(
    ("gated", "revision", "reason", "words"),
    [
        (True, "main", "GatedModel", "source.secretRef"),
        (False, "v9", "RevisionNotFound", "no revision v9"),
    ],
)
def test_a_model_that_cannot_be_had_is_explained(fetch, push, hub, gated, revision, reason, words):
    push(config__json=b"{}", model__safetensors=b"first")
    hub.gated = gated
    found = fetch(revision)
    assert (found["reason"], words in found["message"]) == (reason, True)


def test_a_model_without_commits_is_explained(fetch):
    assert fetch("main")["reason"] == "RevisionNotFound"

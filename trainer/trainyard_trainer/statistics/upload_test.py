import hashlib
import io
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from trainyard_artifacts.addresses import StoreUnavailable
from trainyard_artifacts.store import open_store
from trainyard_trainer.reports.claims import parse_claim
from trainyard_trainer.statistics import upload
from trainyard_trainer.statistics.recorder import TokenRecorder
from trainyard_trainer.statistics.tokens import HistoryIndex, TokenStatistics
from trainyard_trainer.statistics.upload import Uploads

CHECKPOINT = "0af1bed4-69fa-474f-be16-a18cc731a38f"
URI = f"artifact:///token-statistics/{CHECKPOINT}.parquet"
PATH = "/v1/jobs/7/attempts/2/token-statistics"
CLAIM = parse_claim(
    {
        "id": "7",
        "attempt": 2,
        "method": "RL",
        "input": {"uri": "artifact:///payloads/e/x.json", "digest": "d"},
        "checkpoint_id": CHECKPOINT,
        "config": {},
        "entity": "e",
        "from_checkpoint": None,
        "resume": None,
        "reference": None,
        "token_statistics": "off",
        "model_name": "e/p/m",
    }
)


@pytest.fixture
def store(store_settings):
    return open_store(store_settings)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(upload, "PAUSE_SECONDS", 0.02)


def record(mode="all"):
    recorder = TokenRecorder("7", mode)
    numbers = [np.array([-0.5, 0.25], np.float32)] * 5
    ids = np.array([3, 4], np.int32)
    recorder.add(1, HistoryIndex(0, 1, 0), TokenStatistics(ids, ids, *numbers, np.zeros(2, np.uint8)))
    return recorder


def send(recorder, store, client, claim=CLAIM):
    uploads = Uploads()
    uploads.start(recorder, store, client, claim)
    uploads.join(10)
    assert not any(thread.is_alive() for thread in uploads.threads)


def test_the_file_is_stored_and_then_reported_with_the_pushes(server, client, store):
    def respond(_path, _body):
        assert store.has(URI)
        return 200, {}

    server.respond = respond
    recorder = record()
    send(recorder, store, client)
    content = store.read(URI)
    body = {
        "uri": URI,
        "digest": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "pushes": {"0/1": 0.75},
    }
    assert server.requests == [(PATH, "Bearer first", body)]
    assert pq.read_table(io.BytesIO(content)).num_rows == 2
    assert recorder.file.file.closed


def test_without_a_file_the_pushes_are_reported(server, client, store):
    send(record("off"), store, client)
    assert server.bodies_of("token-statistics") == [
        {"uri": None, "digest": None, "bytes": None, "pushes": {"0/1": 0.75}}
    ]
    assert not store.has(URI)


def test_a_report_is_repeated_while_the_status_server_is_away(server, client, store):
    server.answers = [(503, {}), (500, {}), (200, {})]
    send(record(), store, client)
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[2]


def test_it_is_given_up_after_its_retries(server, client, store, monkeypatch, capsys):
    monkeypatch.setattr(upload, "GIVE_UP_SECONDS", 0.1)
    server.answers = [(503, {})]
    send(record(), store, client)
    assert "token statistics are lost" in capsys.readouterr().out


@pytest.mark.parametrize("status", [404, 409, 413, 422])
def test_a_rejected_report_of_statistics_is_not_sent_again(server, client, store, status):
    server.answers = [(status, {})]
    send(record(), store, client)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [404, 409])
def test_no_file_stays_of_a_model_that_was_deleted_in_the_meantime(server, client, store, status):
    server.answers = [(status, {})]
    send(record(), store, client)
    assert not store.has(URI)


def test_a_store_that_is_unavailable_for_a_moment_only_delays(server, client, store, monkeypatch):
    fail, write_file = [True, True], store.write_file

    def write_late(uri, file):
        if fail and fail.pop():
            file.read(7)
            raise StoreUnavailable("The artifact store does not answer")
        write_file(uri, file)

    monkeypatch.setattr(store, "write_file", write_late)
    send(record(), store, client)
    (body,) = server.bodies_of("token-statistics")
    assert hashlib.sha256(store.read(URI)).hexdigest() == body["digest"]


def test_an_unavailable_store_affects_no_job(server, client, store, monkeypatch, capsys):
    def fail(*_):
        raise StoreUnavailable("The artifact store does not answer")

    monkeypatch.setattr(upload, "GIVE_UP_SECONDS", 0.1)
    monkeypatch.setattr(store, "write_file", fail)
    recorder = record()
    send(recorder, store, client)
    assert server.requests == []
    assert recorder.file.file.closed
    assert "does not answer" in capsys.readouterr().out


def test_the_job_continues_at_once_and_its_end_waits_no_longer_than_the_limit(server, client, store):
    server.respond = lambda _path, _body: (time.sleep(1), (200, {}))[1]
    uploads = Uploads()
    started = time.monotonic()
    for number in range(3):
        uploads.start(record(), store, client, replace(CLAIM, checkpoint_id=f"{number}{CHECKPOINT[1:]}"))
    assert time.monotonic() - started < 0.3
    uploads.join(0.2)
    assert time.monotonic() - started < 0.8
    uploads.join(10)
    assert len(server.requests) == 3

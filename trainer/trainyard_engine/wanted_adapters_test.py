import asyncio
import json
from dataclasses import replace

import pytest
from vllm.lora.request import LoRARequest

from trainyard_engine import wanted_adapters
from trainyard_engine.config import read_settings
from trainyard_engine.wanted_adapters import list_wanted_adapters, load_wanted_adapters


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setattr(wanted_adapters, "RETRY_SECONDS", 0.01)
    token = tmp_path / "token"
    token.write_text("a-token\n")
    env = {
        "TRAINYARD_MODEL_NAMES": "tiny/chat,other",
        "TRAINYARD_MODEL": "models/tiny-chat",
        "TRAINYARD_ARTIFACTS": str(tmp_path),
        "VLLM_API_KEY": "key",
        "TRAINYARD_STATUS_URL": "http://127.0.0.1:1",
        "TRAINYARD_TOKEN_FILE": str(token),
    }
    return read_settings(env)


async def serve(answers, asked):
    """Sends each answer to one request."""

    async def answer(reader, writer):
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        status, body = answers.pop(0)
        text = json.dumps(body)
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n{text}".encode())
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


def ask(settings, *answers):
    async def run():
        asked = []
        async with await serve(list(answers), asked) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return await list_wanted_adapters(replace(settings, status_url=url), 2), asked

    return asyncio.run(run())


def test_the_status_server_says_which_adapters_are_wanted(settings):
    ids, asked = ask(settings, (503, {}), (200, {"ids": ["a", "b", "c"]}))
    assert ids == ["a", "b"]
    assert len(asked) == 2
    assert "GET /v1/wanted-adapters?base_model=tiny%2Fchat&limit=2 HTTP/1.1" in asked[0]
    assert "authorization: bearer a-token" in asked[0].lower()


@pytest.mark.parametrize("answer", [(503, {}), (200, {}), (200, []), (200, {"ids": 3})])
def test_without_an_answer_no_adapter_is_wanted(settings, answer):
    assert ask(settings, answer, answer, answer)[0] == []


def test_without_a_status_server_no_adapter_is_wanted(settings):
    assert asyncio.run(list_wanted_adapters(settings, 2)) == []
    assert asyncio.run(list_wanted_adapters(replace(settings, status_url=None), 2)) == []


def test_the_most_important_adapter_is_loaded_last_and_one_that_fails_stops_no_other(settings, monkeypatch):
    monkeypatch.setattr(wanted_adapters, "CONCURRENT_LOADS", 1)
    loaded = []

    async def load(name):
        if name == "b":
            raise RuntimeError("damaged")
        loaded.append(name)
        return LoRARequest(lora_name=name, lora_int_id=1, lora_path="/none")

    async def wanted(*_):
        return ["a", "b", "c"]

    monkeypatch.setattr(wanted_adapters, "list_wanted_adapters", wanted)
    asyncio.run(load_wanted_adapters(settings, load, 3))
    assert loaded == ["c", "a"]


def test_an_adapter_that_hangs_delays_the_engine_for_a_limited_time(settings, monkeypatch):
    monkeypatch.setattr(wanted_adapters, "LOAD_SECONDS", 0.05)

    async def wanted(*_):
        return ["a"]

    async def load(_):
        await asyncio.sleep(3600)

    monkeypatch.setattr(wanted_adapters, "list_wanted_adapters", wanted)
    asyncio.run(load_wanted_adapters(settings, load, 1))

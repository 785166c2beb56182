import asyncio
import os
import time

import pytest

from trainyard_artifacts.folder_cache import FolderCache
from trainyard_engine.retirement import Retirement, unload_over_http


@pytest.fixture
def cache(tmp_path):
    return FolderCache(tmp_path, 100)


def fetch(cache, name):
    return cache.get(name, lambda folder: (folder / "file").write_bytes(b"x" * 40))


def age(folder):
    hour_ago = time.time() - 3600
    os.utime(folder, (hour_ago, hour_ago))


async def settle(retirement):
    await asyncio.gather(*retirement.retiring.values(), return_exceptions=True)


def use(retirement, cache, name):
    folder = fetch(cache, name)
    retirement.record_use(folder, f"adapter-{name}")
    return folder


def test_beyond_the_limit_vllm_unloads_an_adapter_before_its_folder_is_removed(cache):
    retired = []

    async def unload(name):
        retired.append((name, (cache.root / "a").is_dir()))

    async def run():
        retirement = Retirement(cache, unload, grace_seconds=0.1)
        age(use(retirement, cache, "a"))
        retirement.record_use(cache.root / "a", "second-name")
        use(retirement, cache, "b")
        assert retired == []
        use(retirement, cache, "c")
        await asyncio.sleep(0.02)
        assert retired == [("adapter-a", True), ("second-name", True)]
        assert (cache.root / "a").is_dir()  # waiting requests may still load it
        await settle(retirement)

    asyncio.run(run())
    assert sorted(path.name for path in cache.root.iterdir()) == ["b", "c"]


def test_a_folder_that_is_used_again_stays_and_another_is_removed(cache):
    retired = []

    async def unload(name):
        retired.append(name)

    async def run():
        retirement = Retirement(cache, unload, grace_seconds=0.1)
        for name in "ab":
            age(use(retirement, cache, name))
        use(retirement, cache, "c")
        await asyncio.sleep(0.02)
        first = retired[0].removeprefix("adapter-")
        use(retirement, cache, first)
        await settle(retirement)
        return first

    first = asyncio.run(run())
    names = sorted(path.name for path in cache.root.iterdir())
    assert first in names
    assert len(names) == 2


def test_a_folder_that_is_used_again_keeps_its_other_names_loaded(cache):
    retired = []

    async def run():
        may_answer = asyncio.Event()

        async def unload(name):
            retired.append(name)
            await may_answer.wait()

        retirement = Retirement(cache, unload, grace_seconds=0.1)
        age(use(retirement, cache, "a"))
        retirement.record_use(cache.root / "a", "second-name")
        use(retirement, cache, "b")
        use(retirement, cache, "c")
        await asyncio.sleep(0.02)
        use(retirement, cache, "a")
        may_answer.set()
        await settle(retirement)
        await asyncio.sleep(0.02)

    asyncio.run(run())
    assert retired[0] == "adapter-a"
    assert "second-name" not in retired


def test_an_adapter_that_vllm_does_not_unload_stays(cache):
    async def unload(name):
        raise OSError("no answer")

    async def run():
        retirement = Retirement(cache, unload, grace_seconds=0)
        age(use(retirement, cache, "a"))
        for name in "bc":
            use(retirement, cache, name)
        await settle(retirement)

    asyncio.run(run())
    assert (cache.root / "a").is_dir()


@pytest.mark.parametrize(("status", "fails"), [(200, False), (404, False), (401, True), (500, True)])
def test_an_adapter_is_unloaded_by_vllms_own_interface_past_any_proxy(monkeypatch, status, fails):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    asked = []

    async def answer(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length" in line)
        asked.append((head.split("\r\n")[0], "Bearer key" in head, (await reader.readexactly(length)).decode()))
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            await unload_over_http("0.0.0.0", server.sockets[0].getsockname()[1], "key")("an-id")

    if fails:
        with pytest.raises(Exception, match=str(status)):
            asyncio.run(run())
    else:
        asyncio.run(run())
    assert asked == [("POST /v1/unload_lora_adapter HTTP/1.1", True, '{"lora_name":"an-id"}')]

import asyncio
from typing import cast

import pytest
from vllm.engine.protocol import EngineClient
from vllm.lora.request import LoRARequest

from trainyard_engine.loaded_adapters import LoadedAdapters, count_running


class Memory:
    """The part of vLLM's engine that keeps adapters."""

    def __init__(self):
        self.removed = []
        self.pinned = []
        self.may_end = asyncio.Event()

    async def remove_lora(self, number):
        self.removed.append(number)
        return True

    async def collective_rpc(self, method, args):
        assert method == "keep_adapters"
        self.pinned.append(args[0])

    async def generate(self, prompt, *, lora_request=None):
        await self.may_end.wait()
        yield prompt

    encode = generate


def adapter(number):
    return LoRARequest(lora_name=f"step-{number}", lora_int_id=number, lora_path="/none")


def open_adapters(memory, max_adapters, loaded, max_kept=1):
    adapters = LoadedAdapters(cast(EngineClient, memory), max_adapters, max_kept)
    for number in range(1, loaded + 1):
        adapters[f"step-{number}"] = adapter(number)
    return adapters


def run(test):
    async def with_memory():
        await test(Memory())

    asyncio.run(with_memory())


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def test_the_least_recently_used_adapter_leaves_the_memory():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=2)
        assert adapters["step-1"].lora_int_id == 1
        adapters["step-3"] = adapter(3)
        await settle()
        assert (list(adapters), memory.removed) == (["step-1", "step-3"], [2])

    run(test)


def test_there_are_never_more_adapters_than_fit_into_memory():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=5)
        await settle()
        assert (list(adapters), memory.removed) == (["step-4", "step-5"], [1, 2, 3])

    run(test)


def test_an_unloaded_adapter_leaves_the_memory_when_its_requests_have_ended():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=1)
        count_running(memory, adapters)
        used = adapters["step-1"]

        async def ask():
            return [output async for output in memory.generate("a", lora_request=used)]

        requests = [asyncio.create_task(ask()) for _ in range(2)]
        await settle()
        del adapters["step-1"]
        await settle()
        assert ("step-1" in adapters, memory.removed) == (False, [])
        memory.may_end.set()
        assert [await request for request in requests] == [["a"], ["a"]]
        await settle()
        assert memory.removed == [1]
        assert not adapters.running

    run(test)


def test_an_adapter_without_running_requests_goes_first():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=2)
        adapters.begin(adapter(1))
        adapters["step-3"] = adapter(3)
        assert list(adapters) == ["step-1", "step-3"]

    run(test)


def test_a_name_that_is_not_loaded_is_a_key_error():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=1)
        for read in (lambda: adapters["none"], lambda: adapters.__delitem__("none")):
            with pytest.raises(KeyError):
                read()

    run(test)


def test_a_kept_adapter_is_not_displaced_until_it_is_kept_no_longer():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=2)
        await adapters.keep(["step-1"])
        adapters["step-3"] = adapter(3)
        adapters["step-4"] = adapter(4)
        await adapters.keep([])
        adapters["step-5"] = adapter(5)
        await settle()
        assert (list(adapters), memory.removed, memory.pinned) == (["step-4", "step-5"], [2, 3, 1], [[1], []])

    run(test)


def test_an_adapter_that_is_loaded_after_it_is_kept_is_kept_at_once():
    async def test(memory):
        adapters = open_adapters(memory, 2, loaded=0)
        await adapters.keep(["step-1"])
        for number in (1, 2, 3):
            adapters[f"step-{number}"] = adapter(number)
        await settle()
        assert (list(adapters), memory.pinned) == (["step-1", "step-3"], [[], [1]])

    run(test)


def test_at_most_as_many_are_kept_as_leave_room_for_a_batch():
    async def test(memory):
        adapters = open_adapters(memory, 3, loaded=3, max_kept=2)
        await adapters.keep(["step-3", "step-2", "step-1"])
        adapters["step-4"] = adapter(4)
        assert (list(adapters), memory.pinned) == (["step-2", "step-3", "step-4"], [[2, 3]])

    run(test)

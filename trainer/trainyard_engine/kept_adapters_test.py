from types import SimpleNamespace
from typing import Any, cast

from fastapi import FastAPI
from starlette.testclient import TestClient
from vllm.lora.model_manager import AdapterLRUCache

from trainyard_engine.access import KEPT_PATH
from trainyard_engine.kept_adapters import MAX_NAMES, add_kept_route, keep_in_memory


def open_manager(capacity: int, loaded: int) -> Any:
    memory = AdapterLRUCache(capacity, lambda _: None)
    for number in range(1, loaded + 1):
        memory[number] = f"step-{number}"
    return cast(Any, SimpleNamespace(_registered_adapters=memory))


def test_a_worker_drops_the_oldest_adapter_that_is_not_kept():
    manager = open_manager(3, loaded=3)
    keep_in_memory(manager, [1, 9])
    manager._registered_adapters.remove_oldest()
    assert list(manager._registered_adapters.order) == [1, 3]
    keep_in_memory(manager, [3])
    manager._registered_adapters.remove_oldest()
    assert list(manager._registered_adapters.order) == [3]


def test_an_adapter_that_is_unloaded_is_kept_no_longer():
    manager = open_manager(3, loaded=2)
    keep_in_memory(manager, [1])
    manager._registered_adapters.pop(1)
    keep_in_memory(manager, [2])
    assert manager._registered_adapters.pinned_items == {2}


def test_the_route_takes_names_and_bounds_them():
    app, kept = FastAPI(), []

    async def keep(names):
        kept.append(names)

    add_kept_route(app, keep)
    client = TestClient(app)
    assert client.put(KEPT_PATH, json={"names": ["a", "b"]}).status_code == 200
    assert client.put(KEPT_PATH, json={"names": ["a"] * (MAX_NAMES + 1)}).status_code == 422
    assert kept == [["a", "b"]]

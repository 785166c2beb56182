"""A neighbour's chats are answered while another tenant asks for more than the engine has."""

import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from uuid import uuid4

import pytest

from testing.styled_templates import MODEL
from trainyard_artifacts.checkpoints import locate_checkpoint, write_checkpoint
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import open_store
from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.outline import build_outline
from trainyard_engine.random_adapter import write_random_adapter

LONG = 400


@pytest.fixture
def start(start_engine):
    def start(*arguments: str, **env: str):
        engine = start_engine(str(MODEL), *arguments, **{"TRAINYARD_MAX_MODEL_LEN": "512"} | env)
        engine.wait_until_ready()
        return engine

    return start


@pytest.fixture
def adapters(tmp_path) -> list[str]:
    """The names of five adapters."""
    store = open_store(StoreSettings(str(tmp_path)))
    outline = build_outline(str(MODEL), trust_remote_code=False)
    names = [str(uuid4()) for _ in range(5)]
    for name in names:
        write_checkpoint(store, locate_checkpoint(name), partial(write_random_adapter, outline, LoraSettings(8, 16)))
    return names


def chat(engine, tenant: str, model: str = "tiny", **members) -> list[str]:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "Count to a thousand."}],
        "seed": 7,
        "ignore_eos": True,
        "cache_salt": tenant,
        **members,
    }
    reply = json.loads(engine.send("POST", "/v1/chat/completions", body, tenant))
    return [choice["message"]["content"] for choice in reply["choices"]]


def ask_much(engine, models: list[str], *, n: int, tokens: int = LONG) -> list[Future]:
    """One tenant's chats, which have begun to run when this returns."""
    threads = ThreadPoolExecutor(len(models))
    chats = [threads.submit(chat, engine, "hog", model, n=n, max_tokens=tokens) for model in models]
    time.sleep(1.5)
    return chats


def require_neighbour(engine, chats: list[Future], models: list[str]) -> None:
    for model in models:
        assert chat(engine, "neighbour", model, max_tokens=16)
    assert not any(chat.done() for chat in chats), "the neighbour did not wait for them"


def test_a_neighbour_of_a_large_engine(start, adapters):
    engine = start(
        *("--max-num-seqs", "8", "--max-num-batched-tokens", "512", "--no-enable-prefix-caching"),
        TRAINYARD_MAX_MODEL_LEN="2048",
        TRAINYARD_MAX_LORAS="2",
    )
    load(engine, adapters)
    one_chat_with_many_choices_lets_others_run(engine)
    many_adapters_let_others_have_one(engine, adapters)
    a_long_prompt_leaves_others_a_part_of_each_step(engine)
    texts_of_a_megabyte_let_others_be_read(engine)


def test_a_neighbour_of_a_small_engine(start, adapters):
    engine = start("--max-num-seqs", "64", "--num-gpu-blocks-override", "36", TRAINYARD_MAX_LORAS="1")
    load(engine, adapters)
    long_texts_let_others_have_blocks(engine)
    the_only_adapter_of_a_batch_is_drained_for_others(engine, adapters)


def load(engine, adapters: list[str]) -> None:
    for adapter in adapters:
        chat(engine, "loads", adapter, max_tokens=1)


def one_chat_with_many_choices_lets_others_run(engine) -> None:
    alone = chat(engine, "hog", max_tokens=LONG, n=32)
    chats = ask_much(engine, ["tiny"] * 3, n=32)
    require_neighbour(engine, chats, ["tiny"] * 3)
    assert all(chat.result(200) == alone for chat in chats), "those that waited go on where they were"


def many_adapters_let_others_have_one(engine, adapters: list[str]) -> None:
    *hogs, mine = adapters
    chats = ask_much(engine, hogs * 2, n=4)
    require_neighbour(engine, chats, [mine])
    assert all(len(chat.result(200)) == 4 for chat in chats)


def a_long_prompt_leaves_others_a_part_of_each_step(engine) -> None:
    prompt = [{"role": "user", "content": "one " * 1500}]
    threads = ThreadPoolExecutor(24)
    chats = [threads.submit(chat, engine, "hog", messages=prompt, max_tokens=1) for _ in range(24)]
    time.sleep(0.3)
    require_neighbour(engine, [chats[-1]], ["tiny"])
    assert all(chat.result(200) for chat in chats)


def texts_of_a_megabyte_let_others_be_read(engine) -> None:
    text = "word " * 198_000
    read = partial(engine.send, "POST", "/tokenize", {"model": "tiny", "prompt": text}, "hog")
    threads = ThreadPoolExecutor(36)
    chats = [threads.submit(read) for _ in range(36)]
    time.sleep(1)
    require_neighbour(engine, [chats[-1]], ["tiny"])
    for tokenized in chats:
        assert json.loads(tokenized.result(200))["count"] > 100_000


def long_texts_let_others_have_blocks(engine) -> None:
    chats = ask_much(engine, ["tiny"] * 8, n=4)
    require_neighbour(engine, chats, ["tiny"] * 3)
    assert all(len(chat.result(200)) == 4 for chat in chats)


def the_only_adapter_of_a_batch_is_drained_for_others(engine, adapters: list[str]) -> None:
    first, second = adapters[:2]
    chats = ask_much(engine, [first] * 24, n=8, tokens=200)
    assert chat(engine, "neighbour", second, max_tokens=16)
    assert not all(chat.done() for chat in chats)
    assert all(len(chat.result(200)) == 8 for chat in chats)

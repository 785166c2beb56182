"""A neighbour's chats are the same before and after adapters whose numbers overflow."""

import json
import math
from functools import partial
from urllib.error import HTTPError
from uuid import uuid4

import pytest
from safetensors.torch import load_file, save_file

from testing.styled_templates import MODEL
from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, locate_checkpoint, write_checkpoint
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import open_store
from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.outline import build_outline
from trainyard_engine.random_adapter import write_random_adapter

COLOURS = ["red", "blue", "teal", "green", "grey", "pink", "black", "white", "gold", "brown", "plum", "lime"]
OVERFLOWING = [{"filled": math.nan}, {"filled": 3e38}, {"alpha": -1e30}]
# Few blocks, so that each is soon used again.
BLOCKS = "64"


@pytest.fixture
def start(start_engine):
    def start(*arguments: str):
        blocks = ("--num-gpu-blocks-override", BLOCKS)
        engine = start_engine(str(MODEL), *blocks, *arguments, TRAINYARD_MAX_MODEL_LEN="512")
        engine.wait_until_ready()
        return engine

    return start


def chat(engine, model: str, text: str, salt: str) -> tuple[int, str]:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 24,
        "temperature": 0,
        "cache_salt": salt,
        "ignore_eos": True,
    }
    try:
        reply = json.loads(engine.send("POST", "/v1/chat/completions", body))
    except HTTPError as error:
        return error.code, error.read().decode()
    return 200, reply["choices"][0]["message"]["content"]


def chat_as_neighbour(engine, salt: str) -> list[tuple[int, str]]:
    return [chat(engine, "tiny", f"Say {colour} again. " * 9, salt) for colour in COLOURS]


def write_adapter(folder, *, filled: float | None = None, alpha: float | None = None) -> None:
    """A random adapter, with all of its numbers or its alpha replaced."""
    write_random_adapter(build_outline(str(MODEL), trust_remote_code=False), LoraSettings(8, 16), folder)
    if filled is not None:
        tensors = load_file(folder / ADAPTER_WEIGHTS)
        save_file({name: tensor.fill_(filled) for name, tensor in tensors.items()}, folder / ADAPTER_WEIGHTS)
    if alpha is not None:
        config = json.loads((folder / ADAPTER_CONFIG).read_text())
        (folder / ADAPTER_CONFIG).write_text(json.dumps(config | {"lora_alpha": alpha}))


def test_an_adapter_that_overflows_changes_no_answer_of_others(start, tmp_path):
    require_same_answers(start(), tmp_path)


def require_same_answers(engine, tmp_path) -> None:
    before = chat_as_neighbour(engine, "before")
    assert all(status == 200 and text for status, text in before)
    store = open_store(StoreSettings(str(tmp_path)))
    for change in OVERFLOWING:
        name = str(uuid4())
        write_checkpoint(store, locate_checkpoint(name), partial(write_adapter, **change))
        spoiled = [chat(engine, name, f"Say {colour} again. " * 9, "same") for colour in COLOURS * 2]
        assert all(status == 500 and "not finite" in text for status, text in spoiled), (change, spoiled)
        assert chat_as_neighbour(engine, name) == before, change

"""Conversations that would keep a tokenizer or a template busy for long are rejected soon, with a sentence."""

import json
from io import BytesIO

import pytest

from testing.histories import tokenize
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.dataset import MAX_LINE_BYTES, Reading, read_rows
from trainyard_trainer.tokens.rendering import MAX_TEXT_BYTES

ASK = {"role": "user", "content": "Name a colour."}
RED = {"role": "assistant", "content": "Red."}
LONG = "a" * MAX_TEXT_BYTES


def nest(levels: int) -> str:
    return '{"messages":[{"role":"user","content":"x","x":' + "[" * levels + "]" * levels + "}]}"


def read(tokenizer, line: bytes) -> list:
    return list(read_rows(BytesIO(line), Reading(tokenizer)))


@pytest.mark.parametrize("text", [LONG, "🎈" * (MAX_TEXT_BYTES // 4)], ids=["letters", "emoji"])
def test_a_text_that_is_too_long_is_rejected(tokenizer, make_choice, text):
    with pytest.raises(InvalidInput, match=f"more than {MAX_TEXT_BYTES} bytes of text"):
        tokenize([ASK | {"content": text}, make_choice("Red.")], tokenizer)
    with pytest.raises(InvalidInput, match=f"Line 1: .*{MAX_TEXT_BYTES} bytes of text"):
        read(tokenizer, json.dumps({"messages": [ASK | {"content": text}, RED]}).encode())


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        pytest.param({"name": "f", "description": LONG}, "bytes of text with its tools", id="a long description"),
        pytest.param({"name": "f", "parameters": {"enum": [0] * 200_000}}, "more than 200000 values", id="many values"),
    ],
)
def test_tools_that_are_too_large_are_rejected(tokenizer, tool, sentence):
    line = json.dumps({"messages": [ASK, RED], "tools": [{"type": "function", "function": tool}]})
    with pytest.raises(InvalidInput, match=sentence):
        read(tokenizer, line.encode())


def test_values_that_are_nested_too_deeply_are_rejected(tokenizer):
    with pytest.raises(InvalidInput, match="nested too deeply"):
        read(tokenizer, nest(5_000).encode())


def test_a_line_that_is_too_long_is_rejected_before_it_is_parsed(tokenizer):
    with pytest.raises(InvalidInput, match=f"more than {MAX_LINE_BYTES} bytes"):
        read(tokenizer, b" " * MAX_LINE_BYTES + b"{}")


def test_histories_of_a_trajectory_share_its_bounds():
    many = {"messages_and_choices": [ASK | {"x": [1] * 50_000}]}
    trajectory = many | {"reward": 1, "additional_histories": [many] * 4}
    with pytest.raises(InvalidInput, match="more than 200000 values"):
        parse_payload(json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode())


def test_sampled_tokens_of_a_trajectory_are_bounded():
    entries = ",".join(['{"logprob":0}'] * 300_000)
    choice = '{"finish_reason":"stop","message":{},"logprobs":{"content":[' + entries + "]}}"
    body = (
        '{"trajectory_groups":[{"trajectories":[{"reward":1,"messages_and_choices":[' + f"{choice},{choice}" + "]}]}]}"
    )
    with pytest.raises(InvalidInput, match="more than 500000 sampled tokens"):
        parse_payload(body.encode())

import json

import pytest

from trainyard_engine.grammars.order import MAX_ORDER_BYTES, read_order
from trainyard_engine.grammars.verdict import GrammarError

CHAT = {"model": "m", "messages": [{"role": "user", "content": "say \"tools\" and 'response_format'"}]}
SCHEMA = {"type": "json_object"}


def read(more, setting=("structured_outputs", "response_format", "tools")):
    return read_order(json.dumps(CHAT | more).encode(), setting)


@pytest.mark.parametrize(
    "more",
    [{}, {"response_format": None, "tool_choice": "auto"}, {"max_tokens": 3}, {"nested": {"response_format": SCHEMA}}],
)
def test_most_chats_set_no_grammar(more):
    assert read(more) is None


@pytest.mark.parametrize("name", ["structured_outputs", "response_format", "tools"])
def test_members_that_set_a_grammar_are_found(name):
    order = read({name: SCHEMA, "tool_choice": "required", "seed": 1})
    assert order
    assert json.loads(order.text) == {name: SCHEMA, "tool_choice": "required"}
    assert order.param == name


TOOL = {"type": "function", "function": {"name": "f"}}
STRICT = {"type": "function", "function": {"name": "f", "strict": True}}
NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize("more", [{}, {"tool_choice": None}, {"tool_choice": "auto"}, {"tool_choice": "none"}])
def test_optional_tools_set_no_grammar(more):
    assert read({"tools": [TOOL], **more}) is None


@pytest.mark.parametrize("more", [{"tool_choice": "required"}, {"tool_choice": NAMED}, {"parallel_tool_calls": False}])
def test_required_and_single_tool_calls_set_a_grammar(more):
    assert read({"tools": [TOOL], **more})


def test_strict_tools_set_a_grammar_unless_calls_are_disabled():
    assert read({"tools": [TOOL, STRICT]})
    assert read({"tools": [TOOL, STRICT], "tool_choice": "none"}) is None


def test_tools_count_only_if_the_engine_builds_grammars_from_them():
    assert read({"tools": [STRICT]}, ("structured_outputs", "response_format")) is None
    assert read({"tools": [STRICT], "response_format": SCHEMA}, ("response_format",))


def test_a_name_in_escapes_is_found():
    body = json.dumps(CHAT | {"response_format": SCHEMA}).replace('"response_format"', r'"\u0072esponse_format"')
    order = read_order(body.encode())
    assert order
    assert json.loads(order.text) == {"response_format": SCHEMA}


@pytest.mark.parametrize("body", [b'{"tools": ', b'["tools"]', b'"tools"', b'\xff"tools"'])
def test_a_body_that_is_not_an_object_is_left_to_vllm(body):
    assert read_order(body) is None


def test_the_order_of_members_does_not_change_the_grammar():
    one = read({"response_format": SCHEMA, "tool_choice": "none"})
    other = read({"tool_choice": "none", "response_format": SCHEMA, "seed": 7})
    assert one and other and one.digest == other.digest


def test_a_grammar_that_is_too_large_is_rejected_before_it_is_parsed():
    order = read({"structured_outputs": {"regex": "a" * MAX_ORDER_BYTES}})
    with pytest.raises(GrammarError, match="256 KiB"):
        _ = order and order.digest


def test_a_grammar_that_is_nested_too_deeply_is_rejected_before_it_is_parsed():
    body = b'{"response_format": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001
    with pytest.raises(GrammarError, match="too deeply"):
        read_order(body)

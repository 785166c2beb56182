"""Invalid calls that the tiny model may write, in vLLM's own parsers."""

import json

import pytest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser import ParserManager

from trainyard_engine.parsers.tolerant import make_tolerant

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
GOOD = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
BROKEN = {
    "no JSON": "<tool_call>garbage</tool_call>",
    "nothing": "<tool_call></tool_call>",
    "a list": "<tool_call>[1]</tool_call>",
    "no name": '<tool_call>{"name": null, "arguments": {}}</tool_call>',
    "a tag that ends too early": "Hello. <tool",
    "a call that ends before its name": '<tool_call>{"na',
    "brackets without end": f"<tool_call>{'[' * 2000}</tool_call>",
}


class Failing:
    """A parser of vLLM that fails at a word."""

    def parse(self, model_output, request, enable_auto_tools=False, model_output_token_ids=()):
        if "fail" in model_output:
            raise RuntimeError("as parsers do")
        return super().parse(model_output, request, enable_auto_tools, model_output_token_ids)

    def parse_delta(self, delta_text, *rest, **named):
        if "fail" in delta_text:
            raise RuntimeError("as parsers do")
        return super().parse_delta(delta_text, *rest, **named)


def ask(**more):
    members = {"messages": [{"role": "user", "content": "a"}], "tools": [TOOL], **more}
    return ChatCompletionRequest.model_validate(members)


@pytest.fixture
def make_parser(tokenizer):
    def make(request, fails=False):
        plain = ParserManager.get_parser("hermes", enable_auto_tools=True, tokenizer=tokenizer)
        parser_cls = make_tolerant(type("FailingParser", (Failing, plain), {}) if fails else plain)
        return parser_cls(tokenizer, request.tools)

    return make


def stream(parser, request, pieces):
    """The content, and the calls by name and arguments, combined as clients do."""
    content, calls = "", {}
    for index, piece in enumerate(pieces):
        delta = parser.parse_delta(piece, [1], request, [], finished=index == len(pieces) - 1)
        content += (delta and delta.content) or ""
        for call in delta.tool_calls if delta else []:
            name, arguments = calls.get(call.index, ("", ""))
            calls[call.index] = (name + (call.function.name or ""), arguments + (call.function.arguments or ""))
    return content, list(calls.values())


def cut(text):
    return [text[start : start + 3] for start in range(0, len(text), 3)]


def test_a_call_is_read_in_complete_replies_and_streams(make_parser):
    request = ask()
    _, content, calls = make_parser(request).parse(GOOD, request, enable_auto_tools=True)
    assert (content, [(call.name, call.arguments) for call in calls]) == (None, [("f", '{"a": "b"}')])
    assert stream(make_parser(request), request, cut(GOOD)) == ("", [("f", '{"a": "b"}')])


def test_an_event_has_one_piece_of_a_call_for_any_number_of_tokens(make_parser):
    request = ask()
    for size in (1, 7, len(GOOD)):
        parser = make_parser(request)
        pieces = [GOOD[start : start + size] for start in range(0, len(GOOD), size)]
        deltas = [
            parser.parse_delta(piece, [1], request, [], finished=number == len(pieces))
            for number, piece in enumerate(pieces, start=1)
        ]
        events = [delta.tool_calls for delta in deltas if delta and delta.tool_calls]
        assert {len(calls) for calls in events} == {1}
        functions = [calls[0].function for calls in events]
        assert [function.name for function in functions if function.name] == ["f"]
        assert "".join(function.arguments or "" for function in functions) == '{"a": "b"}'


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_an_invalid_call_is_content_in_complete_replies_and_streams(make_parser, text):
    request = ask()
    _, content, calls = make_parser(request).parse(text, request, enable_auto_tools=True)
    assert (content, calls or []) == (text, [])
    assert stream(make_parser(request), request, cut(text)) == (text, [])


def test_half_of_a_surrogate_pair_is_content(make_parser):
    request = ask()
    text = GOOD.replace("b", r"\ud800")
    _, content, calls = make_parser(request).parse(text, request, enable_auto_tools=True)
    assert (content, calls) == (text, [])


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_a_parser_that_fails_leaves_the_text(make_parser, choice):
    request = ask(tool_choice=choice)
    pieces = ["Hello. ", "<to", "fail", " and go on"]
    assert make_parser(request, fails=True).parse("".join(pieces), request, True) == (None, "".join(pieces), [])
    assert stream(make_parser(request, fails=True), request, pieces) == ("".join(pieces), [])


def test_a_parser_that_fails_within_a_call_keeps_the_later_text(make_parser):
    request = ask()
    pieces = ['<tool_call>{"name": "f",', "fail", " and go on"]
    assert stream(make_parser(request, fails=True), request, pieces) == ("fail and go on", [("f", "")])


@pytest.mark.parametrize(
    ("choice", "strict", "is_held"),
    [("required", None, True), ("named", None, True), ("required", False, False), ("auto", None, False)],
)
def test_the_arguments_of_a_required_call_follow_their_schema(make_parser, choice, strict, is_held):
    schema = {"type": "object", "properties": {"unlikely": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema, "strict": strict}}
    named = {"type": "function", "function": {"name": "f"}}
    request = ask(tools=[tool], tool_choice=named if choice == "named" else choice)
    outputs = make_parser(request).adjust_request(request).structured_outputs
    assert ("unlikely" in json.dumps(outputs and outputs.structural_tag)) == is_held

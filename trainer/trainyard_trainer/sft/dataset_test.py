import copy
import json
from io import BytesIO
from pathlib import Path

import pytest

from testing.styled_templates import dress
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.dataset import Reading, Row, read_row, read_rows

ASK, RED = {"role": "user", "content": "A colour?"}, {"role": "assistant", "content": "Red."}
GOOD = json.dumps({"messages": [ASK, RED]}).encode()


# The apiserver's tests use the same cases: apiserver/training/ingest/sft-row.test.ts.
CASES = json.loads((Path(__file__).parents[3] / "test" / "cases" / "sft-rows.json").read_text())


def read(tokenizer, *lines, **options):
    return list(read_rows(BytesIO(b"\n".join(lines)), Reading(tokenizer, **options)))


def read_messages(tokenizer, *messages, only_last=False, **members) -> Row:
    content = json.dumps({"messages": messages} | members).encode()
    return read_row(content, 1, Reading(tokenizer, only_last=only_last))


def show(tokenizer, row: Row) -> list[str]:
    """The texts of the trained tokens, one for each contiguous range."""
    runs: list[list[int]] = [[]]
    for token, trained in zip(row.ids, row.trained, strict=True):
        if trained:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return [tokenizer.decode(run) for run in runs if run]


def test_rows_keep_the_order_of_their_lines(tokenizer):
    lines = [json.dumps({"messages": [ASK, {"role": "assistant", "content": word}]}) for word in ("Red.", "Blue.")]
    content = "\ufeff" + lines[0] + "\r\n\n   \n" + lines[1] + "\n"
    rows = list(read_rows(BytesIO(content.encode()), Reading(tokenizer)))
    assert [show(tokenizer, row) for row in rows] == [["Red.<|im_end|>\n"], ["Blue.<|im_end|>\n"]]
    assert [row.line for row in rows] == [1, 4]


def test_a_line_with_all_that_clients_send(tokenizer):
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    tool = {"name": "search", "description": "looks things up", "parameters": {"type": "object"}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Owls?"}], "name": "Ann"},
        {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None},
        {"role": "tool", "tool_call_id": "1", "content": "They hoot."},
        {"finish_reason": "stop", "index": 0, "logprobs": None, "message": {"role": "assistant", "content": "Hoot."}},
    ]
    (row,) = read(tokenizer, json.dumps({"messages": messages, "tools": [tool], "reward": 1, "x": None}).encode())
    text = tokenizer.decode(row.ids)
    assert '{"name": "search", "description": "looks things up"' in text
    assert show(tokenizer, row) == [
        '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call><|im_end|>\n',
        "Hoot.<|im_end|>\n",
    ]


def test_a_row_without_an_answer_is_accepted_among_others(tokenizer):
    assert [row.num_trained > 0 for row in read(tokenizer, json.dumps({"messages": [ASK]}).encode(), GOOD)] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([b""], "The training data is empty"),
        ([b"", b"  ", b"\r"], "The training data is empty"),
        ([GOOD, b"", b'{"messages": "\xff"}'], "Line 3 is not UTF-8: byte 15"),
        ([b"{"], "Line 1 is not JSON"),
        ([b'{"messages": [], "n": NaN}'], "Line 1 is not JSON.*byte 22"),
        ([GOOD, b'{"x":' + b"[" * 100_000], "Line 2 is nested too deeply"),
        ([b"[]"], "Line 1 must be an object, not a list"),
        ([GOOD, b"{}"], "Line 2 has no messages"),
        ([b'{"messages": []}'], "Line 1 has no messages"),
        ([b'{"messages": {"role": "user"}}'], "Line 1, messages must be a list"),
        ([b'{"messages": ["hi"]}'], r"Line 1, messages\[0\] must be an object"),
        ([b'{"messages": [{"content": "hi"}]}'], r"Line 1, messages\[0\].role must be a string"),
        ([b'{"messages": [{"role": "user", "content": 1}]}'], r"messages\[0\].content must be a string"),
        ([b'{"messages": [{"role": "user", "content": [1]}]}'], r"messages\[0\].content: every part"),
        ([b'{"messages": [{"role": "user", "content": [{"text": 1}]}]}'], r"messages\[0\].content: every part"),
        ([b'{"messages": [{"role": "assistant", "tool_calls": [1]}]}'], "tool_calls must be an object"),
        ([b'{"messages": [{"role": "user"}], "tools": 1}'], "Line 1, tools must be a list"),
        ([b'{"messages": [{"role": "user", "content": "\\ud800"}]}'], "Line 1 .* surrogate"),
        ([json.dumps({"messages": [ASK]}).encode()], "no assistant message that is trained"),
    ],
)
def test_an_error_names_its_line(tokenizer, lines, sentence):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read(tokenizer, *lines)
    assert (caught.value.category, caught.value.message[-1]) == ("User", ".")


def test_a_lost_job_stops_at_the_next_line(tokenizer):
    def check():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        read(tokenizer, GOOD, check=check)


def test_a_lost_job_stops_within_a_long_line(tokenizer):
    calls = []

    def check():
        calls.append(None)
        if len(calls) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        read(tokenizer, json.dumps({"messages": [ASK, RED] * 10}).encode(), check=check)


BAD = {"role": "assistant", "content": "Bad."}
CHOICE = {"finish_reason": "stop", "message": BAD}


@pytest.mark.parametrize(
    "masked",
    [
        BAD | {"weight": 0},
        BAD | {"weight": 0.0, "trainable": True},
        BAD | {"trainable": False},
        BAD | {"train": False, "weight": 1},
        CHOICE | {"weight": 0},
        CHOICE | {"message": BAD | {"train": False}},
    ],
)
def test_a_masked_message_is_context(tokenizer, masked):
    row = read_messages(tokenizer, ASK, masked, ASK, RED | {"weight": 1, "trainable": None, "train": True})
    plain = read_messages(tokenizer, ASK, BAD, ASK, RED)
    assert (row.ids, show(tokenizer, row), row.unread) == (plain.ids, ["Red.<|im_end|>\n"], set())


def test_data_whose_answers_are_all_masked_are_refused(tokenizer):
    with pytest.raises(InvalidInput) as caught:
        read(tokenizer, json.dumps({"messages": [ASK, BAD | {"weight": 0}]}).encode())
    assert caught.value.reason == "NothingToLearn"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (BAD | {"weight": 0.5}, r"^Line 1, messages\[1\].weight must be 0 or 1.$"),
        (CHOICE | {"message": BAD | {"train": 0}}, r"^Line 1, messages\[1\].train must be true or false.$"),
        (
            {"role": "user", "content": ["What?", {"type": "image_url", "image_url": {"url": "data:"}}]},
            r"^Line 1, messages\[1\].content has a part with `image_url`. Only text can be trained on: remove it.$",
        ),
        (
            BAD | {"function_call": {"name": "f"}, "tool_calls": [{"function": {"name": "f"}}]},
            r"^Line 1, messages\[1\] has both tool_calls and function_call. Send only tool_calls.$",
        ),
    ],
)
def test_what_is_wrong_with_a_message_is_said_with_its_place(tokenizer, message, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        read_messages(tokenizer, ASK, message)


FUNCTION = {"name": "search", "parameters": {"type": "object"}}


def test_functions_are_tools(tokenizer):
    older = [
        ASK,
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": '{"query": "red"}'}},
        {"role": "function", "name": "search", "content": "Red is a colour."},
        RED,
    ]
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "red"}'}}
    newer = [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "Red is a colour."},
        RED,
    ]
    row = read_messages(tokenizer, *older, functions=[FUNCTION])
    assert row == read_messages(tokenizer, *newer, tools=[{"type": "function", "function": FUNCTION}])
    assert show(tokenizer, row) == [
        '<tool_call>\n{"name": "search", "arguments": {"query": "red"}}\n</tool_call><|im_end|>\n',
        "Red.<|im_end|>\n",
    ]


def test_members_that_nobody_reads_are_named(tokenizer):
    row = read_messages(
        tokenizer,
        ASK | {"name": "Ann", "weight": 1},
        {"role": "assistant", "content": "", "refusal": "No.", "annotations": [], "audio": None},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "tool_use", "id": "1"}]},
        RED | {"weight": 1, "reasoning": "Red is short."},
        reward=0,
        metadata={},
        parallel_tool_calls=False,
        id="a",
    )
    unread = {"id", "reward", "messages.name", "messages.weight", "messages.refusal", "messages.content.tool_use"}
    assert row.unread == unread


def test_a_member_that_the_template_reads_is_not_named(tokenizer):
    dressed = copy.deepcopy(tokenizer)
    role = "message.role ~ '\\n'"
    dressed.chat_template = tokenizer.chat_template.replace(role, f"(message.name or '') ~ {role}")
    assert read_messages(dressed, ASK | {"name": "Ann"}, RED).unread == set()
    assert read_messages(tokenizer, ASK | {"name": "Ann"}, RED).unread == {"messages.name"}


THOUGHT = "<think>\nRed is short.\n</think>\n\nRed."


@pytest.mark.parametrize(
    ("style", "messages", "dropped"),
    [
        ("qwen3", [ASK, RED | {"content": THOUGHT}], False),
        ("qwen3", [ASK, RED | {"content": THOUGHT}, ASK, RED], True),
        ("deepseek", [ASK, RED | {"content": THOUGHT}], True),
        ("deepseek", [ASK, RED | {"content": "Red is short.\n</think>\n\nRed."}], True),
        ("deepseek", [ASK, RED | {"content": "<think>\n\n</think>\n\nRed."}], False),
        ("chatml", [ASK, RED | {"content": THOUGHT}], False),
        ("chatml", [ASK, RED | {"reasoning_content": "Red."}], True),
        ("chatml", [ASK, RED | {"reasoning": "Red is short."}], True),
        ("chatml", [ASK, RED | {"thinking": "Red is short."}], True),
        ("chatml", [ASK, RED | {"reasoning_content": " "}], False),
        ("deepseek", [ASK, RED | {"content": [{"type": "text", "text": THOUGHT}]}], True),
        ("deepseek", [ASK, {"finish_reason": "stop", "message": RED | {"reasoning": "Red is short."}}], True),
    ],
)
def test_reasoning_that_the_template_drops_is_noticed(tokenizer, style, messages, dropped):
    row = read_messages(dress(tokenizer, style), *messages)
    assert (row.drops_reasoning, row.unread) == (dropped, set())


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_is_trained_under_the_name_that_the_template_reads(tokenizer, name):
    dressed = copy.deepcopy(tokenizer)
    role = "message.role ~ '\\n'"
    dressed.chat_template = tokenizer.chat_template.replace(role, f"{role} ~ (message.reasoning_content or '')")
    answer = RED | {name: "Red is short. "}
    for message in (answer, {"finish_reason": "stop", "message": answer}):
        row = read_messages(dressed, ASK, message)
        assert (show(dressed, row), row.drops_reasoning) == (["Red is short. Red.<|im_end|>\n"], False)


@pytest.mark.parametrize("case", CASES["accepted"], ids=lambda case: case["name"])
def test_rows_that_the_apiserver_accepts_too(tokenizer, case):
    found = read_row(json.dumps(case["row"]).encode(), 1, Reading(tokenizer))
    assert (found.num_trained > 0) == case["answered"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_rows_that_the_apiserver_rejects_are_rejected_too(tokenizer, case):
    with pytest.raises(InvalidInput, match=r"^Line 1"):
        read_row(json.dumps(case["row"]).encode(), 1, Reading(tokenizer))

import json
from io import BytesIO
from pathlib import Path

import pytest

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.dataset import read_row, read_rows

ASK, RED = {"role": "user", "content": "A colour?"}, {"role": "assistant", "content": "Red."}
GOOD = json.dumps({"messages": [ASK, RED]}).encode()


# The apiserver's tests use the same cases: apiserver/training/ingest/sft-row.test.ts.
CASES = json.loads((Path(__file__).parents[3] / "test" / "cases" / "sft-rows.json").read_text())


def read(tokenizer, *lines):
    return list(read_rows(BytesIO(b"\n".join(lines)), tokenizer, lambda: None))


def test_rows_keep_the_order_of_their_lines(tokenizer):
    lines = [json.dumps({"messages": [ASK, {"role": "assistant", "content": word}]}) for word in ("Red.", "Blue.")]
    content = "\ufeff" + lines[0] + "\r\n\n   \n" + lines[1] + "\n"
    rows = read_rows(BytesIO(content.encode()), tokenizer, lambda: None)
    trained = [[token for token, keep in zip(row.ids, row.trained, strict=True) if keep] for row in rows]
    assert [tokenizer.decode(ids) for ids in trained] == ["Red.<|im_end|>\n", "Blue.<|im_end|>\n"]


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
    trained = [token for token, keep in zip(row.ids, row.trained, strict=True) if keep]
    assert tokenizer.decode(trained) == (
        '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call><|im_end|>\nHoot.<|im_end|>\n'
    )


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
        ([json.dumps({"messages": [ASK]}).encode()], "no assistant message"),
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
        list(read_rows(BytesIO(GOOD), tokenizer, check))


def test_a_lost_job_stops_within_a_long_line(tokenizer):
    calls = []

    def check():
        calls.append(None)
        if len(calls) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        list(read_rows(BytesIO(json.dumps({"messages": [ASK, RED] * 10}).encode()), tokenizer, check))


@pytest.mark.parametrize("case", CASES["accepted"], ids=lambda case: case["name"])
def test_rows_that_the_apiserver_accepts_too(tokenizer, case):
    found = read_row(json.dumps(case["row"]).encode(), "Line 1", tokenizer, lambda: None)
    assert (found.num_trained > 0) == case["answered"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_rows_that_the_apiserver_rejects_are_rejected_too(tokenizer, case):
    with pytest.raises(InvalidInput, match=r"^Line 1"):
        read_row(json.dumps(case["row"]).encode(), "Line 1", tokenizer, lambda: None)

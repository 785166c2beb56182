import json

import pytest

from trainyard_trainer.data.stepwise_json import parse_stepwise

GOOD = [
    "{}",
    "[]",
    ' { "a" : [ 1 , { "b" : [ ] , "c" : null } , "x, ]}" ] , "d" : { } }\n',
    '{"a": 1, "a": {"b": [[[[1]]]]}}',
    '"text"',
    "-1.5e3",
    '{"\\u00fc\\"": "🎈", "": [true, false]}',
]
BAD = ["", " ", "{", "[", "[1,]", "[,1]", "[1 2]", '{"a" 1}', '{"a":}', '{"a":1,}', "{a: 1}", "{1: 1}", "[] []", "}"]
BAD += ['{"a":1', "[1", '["a', "[NaN]", '{"a": Infinity}', "nul", '{"a": [1}', "[[1]", "{,}", "[1}"]


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("text", GOOD)
def test_the_same_as_in_one_piece(text, depth):
    assert parse_stepwise(text.encode(), depth, lambda: None) == json.loads(text)


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("text", BAD)
def test_what_is_no_json_is_refused_at_every_depth(text, depth):
    with pytest.raises(ValueError):
        parse_stepwise(text.encode(), depth, lambda: None)


def test_each_piece_is_a_place_to_stop():
    calls = []
    parse_stepwise(b'{"a": [{"b": [1, 2, [3]]}, {"b": [4]}], "c": {}}', 4, lambda: calls.append(0))
    assert len(calls) == 4

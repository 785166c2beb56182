"""The memory for payloads that are designed to use much of it."""

import json
import tracemalloc

import pytest

from trainyard_trainer.data.parts import MAX_VALUES
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.failures import InvalidInput

MIB = 1024 * 1024
ASK = {"role": "user", "content": "hi"}


def write_payload(trajectory: str, size: int) -> bytes:
    count = max(1, size // len(trajectory))
    return ('{"trajectory_groups":[{"trajectories":[' + ",".join([trajectory] * count) + "]}]}").encode()


def measure(content: bytes) -> int:
    """The maximum bytes in memory beside the payload while it is read."""
    tracemalloc.start()
    try:
        for group in parse_payload(content):
            for trajectory in group.trajectories:
                trajectory.read_histories()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def make_tokens(count: int) -> str:
    likely = [{"token": "token_id:1", "logprob": -1.0, "bytes": [97]}] * 5
    entry = {"token": "token_id:7", "logprob": -0.5, "bytes": [97, 98], "top_logprobs": likely}
    return json.dumps({"finish_reason": "stop", "message": ASK, "logprobs": {"content": [entry] * count}})


@pytest.mark.parametrize(
    ("member", "items"),
    [
        pytest.param('"metadata":{"x":[%s{}]}', "[]," * 900_000, id="metadata of lists"),
        pytest.param('"metadata":{"x":[%s{}]}', '{"a":[]},' * 300_000, id="metadata of objects"),
        pytest.param('"logs":[%s0]', "0.1," * 700_000, id="logs of numbers"),
        pytest.param('"metrics":{"x":%s0}', "9" * 2_700_000, id="a number of many digits"),
        pytest.param('"reward":1,"x":"%s"', "é" * 1_300_000, id="a long text"),
    ],
)
def test_members_that_training_does_not_read_use_no_memory(member, items):
    trajectory = '{"messages_and_choices":[%s],"reward":1,%s}' % (json.dumps(ASK), member % items)  # noqa: UP031
    content = write_payload(trajectory, 10 * MIB)
    assert measure(content) < MIB


def test_tokens_of_only_one_trajectory_are_in_memory():
    trajectory = '{"messages_and_choices":[%s],"reward":1}' % make_tokens(500)  # noqa: UP031
    content = write_payload(trajectory, 10 * MIB)
    assert measure(content) < len(content) / 4


@pytest.mark.parametrize(
    "part",
    [
        pytest.param('{"role":"user","content":"x","x":[%s1]}' % ("[]," * MAX_VALUES), id="lists"),
        pytest.param('{"role":"user","content":"x","x":[%s1]}' % ("1," * MAX_VALUES), id="numbers"),
        pytest.param('{"finish_reason":"stop","message":{"x":[%s1]}}' % ("{}," * MAX_VALUES), id="a Choice"),
    ],
)
def test_messages_with_too_many_values_are_rejected(part):
    body = '{"trajectory_groups":[{"trajectories":[{"messages_and_choices":[%s],"reward":1}]}]}' % part  # noqa: UP031
    with pytest.raises(InvalidInput, match=f"more than {MAX_VALUES} values"):
        parse_payload(body.encode())


def test_brackets_and_commas_within_texts_do_not_count_as_values():
    message = ASK | {"content": '{"[,\\" ' * MAX_VALUES}
    body = {"trajectory_groups": [{"trajectories": [{"messages_and_choices": [message], "reward": 1}]}]}
    ((trajectory,),) = [group.trajectories for group in parse_payload(json.dumps(body).encode())]
    assert trajectory.read_histories()[0].messages_and_choices == [message]


def test_too_many_messages_are_rejected():
    body = {"trajectory_groups": [{"trajectories": [{"messages_and_choices": [ASK] * 5001, "reward": 1}]}]}
    with pytest.raises(InvalidInput, match="5001 messages; at most 5000"):
        parse_payload(json.dumps(body).encode())

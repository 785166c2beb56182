import json

import pytest

from trainyard_trainer.data.payload import Group, History, parse_payload
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.sampled import has_logprobs

USER = {"role": "user", "content": "hi"}


def parse(trajectory: dict) -> list[Group]:
    return parse_payload(json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode())


def test_a_trajectory_with_more_than_training_reads():
    trajectory = {
        "messages_and_choices": [USER],
        "tools": None,
        "additional_histories": [{"messages_and_choices": [], "tools": []}],
        "reward": 1,
        "metrics": {"n": 2},
        "logs": ["l"],
    }
    ((found,),) = [group.trajectories for group in parse(trajectory)]
    assert (found.reward, found.read_histories()) == (1.0, [History([USER], None), History([], None)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"x":' + b"[" * 100_000, "nested too deeply"),
        (b"[]", "payload must be an object, not a list"),
        (b'{"trajectory_groups": {}}', r"trajectory_groups must be a list, not an object"),
        (b'{"trajectory_groups": [{"trajectories": [{"reward": NaN}]}]}', "not JSON.*byte 52"),
        (b'{"trajectory_groups": [3]}', r"trajectory_groups\[0\] must be an object, not a whole number"),
    ],
)
def test_bad_payloads(content, message):
    with pytest.raises(InvalidInput, match=message):
        parse_payload(content)


@pytest.mark.parametrize(
    ("trajectory", "message"),
    [
        ({"reward": "1"}, "reward must be a finite number"),
        ({"messages_and_choices": [], "reward": 1e999}, "reward must be a finite number|not JSON"),
        ({"messages_and_choices": [], "reward": 10**400}, "reward must be a finite number"),
        ({"messages_and_choices": [], "reward": -1e200}, "reward must be a finite number"),
        ({"messages_and_choices": [], "reward": True}, "reward must be a finite number"),
        ({"messages_and_choices": [USER | {"content": [3]}], "reward": 1}, r"\[0\].content: every part"),
        ({"messages_and_choices": "x", "reward": 1}, r"messages_and_choices must be a list or null, not text"),
        ({"messages_and_choices": [{"content": "x"}], "reward": 1}, r"\[0\].role must be a string"),
        ({"messages_and_choices": [{"role": "user", "content": 5}], "reward": 1}, r"\[0\].content must be"),
        ({"messages_and_choices": [USER | {"tool_calls": [{}]}], "reward": 1}, "tool_calls.function must be"),
        ({"messages_and_choices": [{"finish_reason": "stop", "message": 1}], "reward": 1}, "message must be"),
        ({"messages_and_choices": [], "tools": ["x"], "reward": 1}, r"tools\[0\] must be"),
    ],
)
def test_bad_trajectories_name_the_place(trajectory, message):
    with pytest.raises(InvalidInput, match=message):
        parse(trajectory)


def test_members_at_their_default_are_left_out():
    """As the clients do: a trajectory with the reward 0 has no reward, a group without trajectories is empty."""
    content = json.dumps({"trajectory_groups": [{}, {"trajectories": [{}, {"reward": None}]}]}).encode()
    groups = parse_payload(content)
    assert [[each.reward for each in group.trajectories] for group in groups] == [[], [0.0, 0.0]]
    assert groups[1].trajectories[0].read_histories() == [History([], None)]


@pytest.mark.parametrize("logprobs", [[], "x", 3, None])
def test_invalid_log_probabilities_count_as_absent(logprobs):
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": "a"}, "logprobs": logprobs}
    trajectory = {"messages_and_choices": [choice | {"token_ids": [None]}], "reward": 1}
    content = json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode()
    (group,) = parse_payload(content)
    (history,) = group.trajectories[0].read_histories()
    assert not has_logprobs(history.messages_and_choices[0])

import json

import pytest

from trainyard_trainer.data.json_input import require_messages
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.failures import InvalidInput

ASK = {"role": "user", "content": "Owls?"}
CALL = {"name": "search", "arguments": "{}"}


def describe_call(call_id: str) -> dict:
    return {"tool_calls": [{"id": call_id, "type": "function", "function": CALL}]}


def test_calls_of_functions_become_calls_of_tools():
    answer = {"role": "assistant", "content": None}
    result = {"role": "function", "name": "search", "content": "They hoot."}
    choice = {"finish_reason": "function_call", "logprobs": None}
    called = answer | {"function_call": CALL}
    items = [result, ASK, called, result, choice | {"message": called}, result, answer | {"function_call": None}]
    tool = result | {"role": "tool"}
    assert require_messages(items, "messages") == [
        tool,
        ASK,
        answer | describe_call("call00002"),
        tool | {"tool_call_id": "call00002"},
        choice | {"message": answer | describe_call("call00004")},
        tool | {"tool_call_id": "call00004"},
        answer | {"function_call": None},
    ]


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "image_url", "image_url": {"url": "data:"}}, "image_url"),
        ({"type": "input_image", "text": "An owl."}, "input_image"),
        ({"image": "owl.png"}, "image"),
        ({"type": "input_audio", "input_audio": {}}, "input_audio"),
        ({"type": "video", "video": "owl.mp4"}, "video"),
        ({"type": "file", "file": {"file_id": "1"}}, "file"),
    ],
)
def test_media_in_a_trajectory_fail_the_job_with_their_place(part, name):
    trajectory = {"messages_and_choices": [ASK, ASK | {"content": [{"type": "text", "text": "A"}, part]}], "reward": 1}
    content = json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode()
    where = r"^trajectory_groups\[0\].trajectories\[0\].messages_and_choices\[1\].content"
    with pytest.raises(InvalidInput, match=f"{where} has a part with `{name}`") as caught:
        parse_payload(content)
    assert caught.value.reason == "MediaUnsupported"


@pytest.mark.parametrize("part", ["A", {"type": "text", "text": "A", "image": None}, {"text": "A", "file_name": "b"}])
def test_text_with_empty_members_for_media_is_text(part):
    items = [ASK | {"content": [part]}]
    assert require_messages(items, "messages") == items

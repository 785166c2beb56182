"""Captured requests with images, whose prompts cannot be trained."""

import json
import re

import pytest

from trainyard_trainer.data.payload import Payload, parse_payload
from trainyard_trainer.failures import InvalidInput

USER = {"role": "user", "content": "Owls?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}
TEXT = {"type": "text", "text": "A", "image": None}


def read(kind, **request):
    exchange = {"request": {"model": "agent"} | request, "response": {"choices": []}}
    content = json.dumps({"trajectory_groups": [{"trajectories": [{"exchanges": {kind: [exchange]}}]}]}).encode()
    return parse_payload(content, Payload(is_trained=lambda name: name == "agent"))


@pytest.mark.parametrize(
    ("kind", "request_members", "path", "name"),
    [
        (
            "chat_completions",
            {"messages": [USER, USER | {"content": [TEXT, IMAGE]}]},
            "messages[1].content",
            "image_url",
        ),
        ("chat_completions", {"messages": [{"content": [{"image": "owl.png"}]}]}, "messages[0].content", "image"),
        ("responses", {"input": [{"content": [{"type": "input_file"}]}]}, "input[0].content", "input_file"),
        ("responses", {"input": ["A", {"output": [{"type": "input_image"}]}]}, "input[1].output", "input_image"),
        (
            "messages",
            {"messages": [USER | {"content": [TEXT, {"type": "tool_result", "content": [{"type": "image"}]}]}]},
            "messages[0].content[1].content",
            "image",
        ),
    ],
)
def test_media_fail_the_job_with_their_place(kind, request_members, path, name):
    where = f"trajectory_groups[0].trajectories[0].exchanges.{kind}[0].request.{path}"
    with pytest.raises(InvalidInput, match=re.escape(f"{where} has a part with `{name}`")) as caught:
        read(kind, **request_members)
    assert caught.value.reason == "MediaUnsupported"


@pytest.mark.parametrize(
    "request_members",
    [
        {"messages": [USER | {"content": [TEXT, "image", 1]}, {"role": "assistant", "audio": None}, None]},
        {"messages": [{"content": [{"type": ["image"], "text": {}}]}], "input": "image"},
        {"messages": None, "input": {"type": "image"}},
        {"model": "judge", "messages": [USER | {"content": [IMAGE]}]},
    ],
)
def test_other_requests_are_read(request_members):
    read("chat_completions", **request_members)

import json

import pytest
from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionResponseChoice,
    ChatCompletionResponseStreamChoice,
    ChatMessage,
)

from trainyard_engine.reasoning_content import write_reasoning_content


@pytest.fixture(scope="module", autouse=True)
def written_twice():
    write_reasoning_content()


def write_message(**members):
    choice = ChatCompletionResponseChoice(index=0, message=ChatMessage(role="assistant", **members))
    return json.loads(choice.model_dump_json())["message"]


def write_delta(**members):
    choice = ChatCompletionResponseStreamChoice(index=0, delta=DeltaMessage(**members))
    return json.loads(choice.model_dump_json(exclude_unset=True))["delta"]


def test_a_complete_reply_has_both_names():
    message = write_message(reasoning="two\nlines", content="four")
    assert (message["reasoning"], message["reasoning_content"]) == ("two\nlines", "two\nlines")
    assert message["content"] == "four"


def test_a_reply_without_reasoning_has_a_null_for_both():
    message = write_message(content="four")
    assert (message["reasoning"], message["reasoning_content"]) == (None, None)
    assert "tool_calls" not in message


def test_a_piece_of_a_stream_has_both_names():
    assert write_delta(reasoning="tw") == {"reasoning": "tw", "reasoning_content": "tw"}


def test_a_piece_without_reasoning_has_neither():
    assert write_delta(content="four") == {"content": "four"}

import asyncio
import json

import pytest
from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionRequest,
    ChatCompletionResponse,
    ChatCompletionResponseChoice,
    ChatCompletionResponseStreamChoice,
    ChatCompletionStreamResponse,
    ChatMessage,
)
from vllm.entrypoints.openai.completion.protocol import (
    CompletionRequest,
    CompletionResponse,
    CompletionResponseChoice,
    CompletionResponseStreamChoice,
    CompletionStreamResponse,
)
from vllm.entrypoints.serve.engine.protocol import UsageInfo

from trainyard_engine import choice_members
from trainyard_engine.choice_members import begin_choices, fill_choices

WARM = {"sampling": {"temperature": 0.3}}


def ask(**members):
    return ChatCompletionRequest(messages=[], return_token_ids=True, **members)


def write_chat(request: ChatCompletionRequest, prompt: list[int] | None) -> list[dict]:
    """The members that the choices of a complete reply have beside vLLM's."""
    choices = [
        ChatCompletionResponseChoice(index=index, message=ChatMessage(role="assistant"))
        for index in range(request.n or 1)
    ]
    reply = ChatCompletionResponse(model="m", choices=choices, usage=UsageInfo(), prompt_token_ids=prompt)
    fill_choices(reply, request, {})
    written = reply.model_dump()
    assert written["prompt_token_ids"] == prompt
    return [pick(choice, ChatCompletionResponseChoice) for choice in written["choices"]]


def pick(choice: dict, model: type) -> dict:
    return {name: value for name, value in choice.items() if name not in model.model_fields}


def stream(events: list[str], request) -> list[str]:
    async def give():
        for event in events:
            yield event

    async def read():
        return [event async for event in begin_choices(give(), request, {})]

    return asyncio.run(read())


def write_event(chunk) -> str:
    return f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"


def begin_chat(index: int, prompt: list[int]) -> str:
    choice = ChatCompletionResponseStreamChoice(index=index, delta=DeltaMessage(role="assistant", content=""))
    return write_event(ChatCompletionStreamResponse(id="é", model="m", choices=[choice], prompt_token_ids=prompt))


def continue_chat(text: str) -> str:
    choice = ChatCompletionResponseStreamChoice(index=0, delta=DeltaMessage(content=text))
    return write_event(ChatCompletionStreamResponse(id="é", model="m", choices=[choice]))


def test_each_choice_of_a_chat_has_the_ids_of_the_prompt():
    assert write_chat(ask(n=2), [1, 2]) == [{"prompt_token_ids": [1, 2]}] * 2


def test_each_choice_has_the_settings_that_it_was_sampled_with():
    assert write_chat(ask(n=2, temperature=0.3), [1]) == [{"prompt_token_ids": [1]} | WARM] * 2


@pytest.fixture
def few_copies(monkeypatch):
    monkeypatch.setattr(choice_members, "MAX_COPIED_IDS", 4)


def test_copies_of_a_long_prompt_are_left_out(few_copies):
    assert write_chat(ask(n=2), [1, 2]) == [{"prompt_token_ids": [1, 2]}] * 2
    assert write_chat(ask(n=2, temperature=0.3), [1, 2, 3]) == [WARM] * 2


def write_completion(request: CompletionRequest, prompts: list[list[int]]) -> list[dict]:
    samples = request.n or 1
    choices = [
        CompletionResponseChoice(index=index, text="", prompt_token_ids=prompts[index // samples])
        for index in range(samples * len(prompts))
    ]
    reply = CompletionResponse(model="m", choices=choices, usage=UsageInfo())
    fill_choices(reply, request, {})
    return [
        {"prompt_token_ids": choice["prompt_token_ids"]} | pick(choice, CompletionResponseChoice)
        for choice in reply.model_dump()["choices"]
    ]


def test_a_completion_keeps_the_ids_of_its_prompts():
    written = write_completion(CompletionRequest(prompt="a", n=2, temperature=0.3), [[1], [2, 3]])
    assert written == [
        {"prompt_token_ids": [1]} | WARM,
        {"prompt_token_ids": [1]} | WARM,
        {"prompt_token_ids": [2, 3]} | WARM,
        {"prompt_token_ids": [2, 3]} | WARM,
    ]


def test_of_long_prompts_the_first_choice_of_each_keeps_the_ids(few_copies):
    written = write_completion(CompletionRequest(prompt="a", n=2), [[1], [2, 3]])
    assert [choice["prompt_token_ids"] for choice in written] == [[1], None, [2, 3], None]


def test_the_first_event_of_each_choice_of_a_chat_is_extended():
    later = continue_chat('"prompt_token_ids":[')
    first, second, *rest = stream(
        [begin_chat(0, [1]), begin_chat(1, [1]), later, "data: [DONE]\n\n"], ask(n=2, top_k=2)
    )
    assert rest == [later, "data: [DONE]\n\n"]
    members = {"prompt_token_ids": [1], "sampling": {"top_k": 2}}
    for index, event in enumerate((first, second)):
        expected = json.loads(begin_chat(index, [1])[6:])
        expected["choices"][0] |= members
        assert json.loads(event.removeprefix("data: ")) == expected
        # In this form the gateway finds the model's name.
        assert '"id":"é","model":"m"' in event.replace('"object":"chat.completion.chunk",', "")
        assert event.endswith("}\n\n")


def test_the_ids_of_a_long_prompt_are_in_the_first_event_only(few_copies):
    events = stream([begin_chat(0, [1, 2, 3]), begin_chat(1, [1, 2, 3])], ask(n=2))
    first, second = (json.loads(event[6:]) for event in events)
    assert first["prompt_token_ids"] == [1, 2, 3]
    assert "prompt_token_ids" not in second
    assert [pick(chunk["choices"][0], ChatCompletionResponseStreamChoice) for chunk in (first, second)] == [{}, {}]


def test_the_first_event_of_each_choice_of_a_completion_is_extended():
    def write(index: int, prompt: list[int] | None) -> str:
        choice = CompletionResponseStreamChoice(index=index, text="a", prompt_token_ids=prompt, token_ids=[5])
        return write_event(CompletionStreamResponse(model="m", choices=[choice]))

    events = [write(0, [1]), write(0, None), write(1, [1])]
    first, second, third = stream(events, CompletionRequest(prompt="a", n=2, temperature=0.3))
    assert second == events[1]
    for written, given in ((first, events[0]), (third, events[2])):
        expected = json.loads(given[6:])
        expected["choices"][0] |= WARM
        assert json.loads(written[6:]) == expected

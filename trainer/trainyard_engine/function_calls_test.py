import asyncio
import json

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    FunctionCall,
    ToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionRequest,
    ChatCompletionResponse,
    ChatCompletionResponseChoice,
    ChatCompletionResponseStreamChoice,
    ChatCompletionStreamResponse,
    ChatMessage,
)
from vllm.entrypoints.serve.engine.protocol import UsageInfo

from trainyard_engine.function_calls import stream_function_calls, wants_function_calls, write_function_calls


def test_a_chat_wants_them_if_the_gateway_has_marked_it():
    wanted = [
        wants_function_calls(ChatCompletionRequest(messages=[], **members))
        for members in ({}, {"function_call": None}, {"function_call": "auto"})
    ]
    assert wanted == [False, False, True]


def test_a_call_is_written_in_both_forms():
    call = ToolCall(id="a", function=FunctionCall(name="look", arguments="{}"))
    choices = [
        ChatCompletionResponseChoice(
            index=0, message=ChatMessage(role="assistant", tool_calls=[call]), finish_reason="tool_calls"
        ),
        ChatCompletionResponseChoice(index=1, message=ChatMessage(role="assistant", content="a"), finish_reason="stop"),
    ]
    reply = ChatCompletionResponse(model="m", choices=choices, usage=UsageInfo())
    write_function_calls(reply)
    called, plain = (choice["message"] for choice in reply.model_dump()["choices"])
    assert called["function_call"] == called["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert plain["function_call"] is None
    assert [choice.finish_reason for choice in reply.choices] == ["function_call", "stop"]


def write_event(**members) -> str:
    choice = ChatCompletionResponseStreamChoice(**{"index": 0, "delta": DeltaMessage()} | members)
    chunk = ChatCompletionStreamResponse(id="a", created=1, model="m", choices=[choice])
    return f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"


def call_piece(index: int, **members) -> DeltaMessage:
    return DeltaMessage(tool_calls=[DeltaToolCall(index=index, function=DeltaFunctionCall(**members))])


def read(events: list[str]) -> list[str]:
    async def give():
        for event in events:
            yield event

    async def collect():
        return [event async for event in stream_function_calls(give())]

    return asyncio.run(collect())


def test_the_pieces_of_the_first_call_are_streamed_in_both_forms():
    text = write_event(delta=DeltaMessage(content='"tool_calls"'))
    events = [
        text,
        write_event(delta=call_piece(0, name="look")),
        write_event(delta=call_piece(0, arguments='{"é')),
        write_event(delta=call_piece(1, name="other")),
        write_event(finish_reason="tool_calls"),
    ]
    unchanged, *written = read([*events, "data: [DONE]\n\n"])
    assert (unchanged, written.pop()) == (text, "data: [DONE]\n\n")
    choices = [json.loads(event.removeprefix("data: "))["choices"][0] for event in written]
    assert [choice["delta"].get("function_call") for choice in choices] == [
        {"name": "look"},
        {"arguments": '{"é'},
        None,
        None,
    ]
    assert choices[-1]["finish_reason"] == "function_call"
    assert all(choice["delta"]["tool_calls"] for choice in choices[:3])

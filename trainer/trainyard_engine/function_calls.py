"""Writes calls of tools also in their first form, `function_call`, for clients that sent `functions`.

The gateway has converted the request to `tools`. It leaves the member `function_call` in it, which vLLM ignores.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionResponse

from trainyard_engine.choice_members import DATA, write_json

MARK = "function_call"
#: The reason that ends a choice with a call, in both forms.
ENDED = ("tool_calls", "function_call")


def wants_function_calls(request: ChatCompletionRequest) -> bool:
    return (request.model_extra or {}).get(MARK) is not None


def write_function_calls(reply: ChatCompletionResponse) -> None:
    """Extends a complete reply. The first form has one call."""
    for choice in reply.choices:
        if choice.message.tool_calls:
            choice.message.function_call = choice.message.tool_calls[0].function
        if choice.finish_reason == ENDED[0]:
            choice.finish_reason = ENDED[1]


async def stream_function_calls(events: AsyncGenerator[str]) -> AsyncGenerator[str]:
    async with aclosing(events):
        async for event in events:
            # Within a text, quotes are escaped.
            yield extend_event(event) if '"tool_calls"' in event else event


def extend_event(event: str) -> str:
    chunk = json.loads(event.removeprefix(DATA))
    for choice in chunk["choices"]:
        call = next((call for call in choice["delta"].get("tool_calls") or () if call["index"] == 0), None)
        if call:
            choice["delta"]["function_call"] = pick_function(call)
        if choice.get("finish_reason") == ENDED[0]:
            choice["finish_reason"] = ENDED[1]
    return f"{DATA}{write_json(chunk)}\n\n"


def pick_function(call: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call["function"].items() if value is not None}

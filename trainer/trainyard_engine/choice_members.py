"""Writes into each choice of a reply what its training needs, because many clients keep only the choices.

These are the ids of the prompt, and the settings of sampling that change the model's distribution.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionResponse
from vllm.entrypoints.openai.completion.protocol import CompletionResponse

from trainyard_engine.sampling_settings import Request, find_sampling

# The choices of a chat have one prompt. All of its copies together have some megabytes at most. The reply itself has
# the ids in any case.
MAX_COPIED_IDS = 2**20
DATA = "data: "
# In an event, only the first one of a choice has ids of the prompt. Within a text, quotes are escaped.
BEGINNING = '"prompt_token_ids":['


def fill_choices(
    reply: ChatCompletionResponse | CompletionResponse, request: Request, defaults: dict[str, Any]
) -> None:
    """Extends a complete reply. `defaults` are the engine's settings of sampling."""
    if isinstance(reply, ChatCompletionResponse):
        copied = may_copy(len(reply.prompt_token_ids or ()) * len(reply.choices))
        members = name_members(reply.prompt_token_ids if copied else None, find_sampling(request, defaults))
    else:
        limit_copies(reply, request.n or 1)
        members = name_members(None, find_sampling(request, defaults))
    for choice in reply.choices:
        for name, value in members.items():
            setattr(choice, name, value)  # vLLM's models accept members that they do not declare


def limit_copies(reply: CompletionResponse, samples: int) -> None:
    """vLLM has copied the ids of each prompt into all of its choices. If they are too many, one keeps them."""
    if may_copy(sum(len(choice.prompt_token_ids or ()) for choice in reply.choices)):
        return
    for choice in reply.choices:
        if choice.index % samples:
            choice.prompt_token_ids = None


async def begin_choices(events: AsyncGenerator[str], request: Request, defaults: dict[str, Any]) -> AsyncGenerator[str]:
    """Extends the first event of each choice in a stream. Clients that join the events keep what the first one has."""
    sampling = find_sampling(request, defaults)
    async with aclosing(events):
        async for event in events:
            yield begin_choice(event, request.n or 1, sampling) if BEGINNING in event else event


def begin_choice(event: str, samples: int, sampling: dict[str, Any]) -> str:
    chunk = json.loads(event.removeprefix(DATA))
    (choice,) = chunk["choices"]
    prompt = chunk.get("prompt_token_ids") or []  # of a chat
    copied = may_copy(len(prompt) * samples)
    if prompt and not copied and choice["index"]:
        del chunk["prompt_token_ids"]  # vLLM repeats it for each choice
    choice.update(name_members(prompt if copied else None, sampling))
    return f"{DATA}{write_json(chunk)}\n\n"


def may_copy(ids: int) -> bool:
    return ids <= MAX_COPIED_IDS


def name_members(prompt: list[int] | None, sampling: dict[str, Any]) -> dict[str, Any]:
    return ({"prompt_token_ids": prompt} if prompt else {}) | ({"sampling": sampling} if sampling else {})


def write_json(value: object) -> str:
    """The same form as vLLM's, in which the gateway searches."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

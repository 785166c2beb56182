"""Extends the replies of vLLM's endpoints."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from fastapi import Request as HttpRequest
from starlette.datastructures import State
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionResponse
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.openai.completion.protocol import CompletionRequest, CompletionResponse
from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion
from vllm.entrypoints.serve.engine.protocol import ErrorResponse
from vllm.exceptions import GenerationError

from trainyard_engine.choice_members import begin_choices, fill_choices
from trainyard_engine.function_calls import stream_function_calls, wants_function_calls, write_function_calls

Complete = TypeVar("Complete", ChatCompletionResponse, CompletionResponse)


FAILED = (
    "The model could not compute an answer to this request: its numbers are not finite. The weights of an adapter may "
    "be too large."
)


def extend_replies(state: State) -> None:
    """Replaces the methods that answer chats and completions."""
    for serving in (state.openai_serving_chat, state.openai_serving_completion):
        serving._raise_if_error = raise_if_failed
    extend_chats(state.openai_serving_chat)
    extend_completions(state.openai_serving_completion)


def raise_if_failed(finish_reason: str | None, request_id: str) -> None:
    """vLLM's own says only that there was an error."""
    if finish_reason == "error":
        raise GenerationError(FAILED)


def extend_chats(serving: OpenAIServingChat) -> None:
    answer = serving.create_chat_completion

    async def answer_extended(request: ChatCompletionRequest, raw_request: HttpRequest | None = None):
        reply = add_function_calls(await answer(request, raw_request), request)
        return add_members(reply, request, serving)

    serving.create_chat_completion = answer_extended


def extend_completions(serving: OpenAIServingCompletion) -> None:
    answer = serving.create_completion

    async def answer_extended(request: CompletionRequest, raw_request: HttpRequest | None = None):
        return add_members(await answer(request, raw_request), request, serving)

    serving.create_completion = answer_extended


def add_members(
    reply: AsyncGenerator[str] | Complete | ErrorResponse,
    request: ChatCompletionRequest | CompletionRequest,
    serving: OpenAIServingChat | OpenAIServingCompletion,
) -> AsyncGenerator[str] | Complete | ErrorResponse:
    """Only replies with token ids are used for training."""
    if isinstance(reply, ErrorResponse) or not request.return_token_ids:
        return reply
    if isinstance(reply, AsyncGenerator):
        return begin_choices(reply, request, serving.default_sampling_params)
    fill_choices(reply, request, serving.default_sampling_params)
    return reply


def add_function_calls(
    reply: AsyncGenerator[str] | ChatCompletionResponse | ErrorResponse, request: ChatCompletionRequest
) -> AsyncGenerator[str] | ChatCompletionResponse | ErrorResponse:
    if isinstance(reply, ErrorResponse) or not wants_function_calls(request):
        return reply
    if isinstance(reply, AsyncGenerator):
        return stream_function_calls(reply)
    write_function_calls(reply)
    return reply

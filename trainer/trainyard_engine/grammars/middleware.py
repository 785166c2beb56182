"""Where grammars are stopped: at the body of a chat, before vLLM reads it, and once more where the engine gets them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from vllm.engine.protocol import EngineClient
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams

from trainyard_engine.grammars.gate import GrammarGate
from trainyard_engine.grammars.order import MembersOrder, ParamsOrder, read_order
from trainyard_engine.grammars.verdict import GrammarRefused

# Whose request it is, in the apiserver's words, which tell nobody more than that two are the same.
TENANT_HEADER = "x-trainyard-tenant"
CHAT = ("POST", "/v1/chat/completions")
KINDS = {400: "BadRequestError", 429: "RateLimitError", 503: "ServiceUnavailableError"}

tenant_of_request: ContextVar[str] = ContextVar("tenant_of_request", default="")


class GrammarMiddleware:
    """`setting` are the members that can set a grammar in this engine."""

    def __init__(self, app: ASGIApp, gate: GrammarGate, setting: Sequence[str]) -> None:
        self.app = app
        self.gate = gate
        self.setting = setting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) != CHAT:
            await self.app(scope, receive, send)
            return
        tenant_of_request.set(Headers(scope=scope).get(TENANT_HEADER, ""))
        body = await read_body(receive)
        if body is None:
            return  # the client has left
        order = None
        try:
            order = read_order(body, self.setting)
            if order and not await self.admit(order, receive):
                return
        except GrammarRefused as cause:
            await describe(cause, order and order.param)(scope, receive, send)
            return
        await self.app(scope, give_again(body, receive), send)

    async def admit(self, order: MembersOrder, receive: Receive) -> bool:
        """False where the client left before its grammar was compiled."""
        admission = asyncio.create_task(self.gate.admit(tenant_of_request.get(), order))
        leaving = asyncio.ensure_future(receive())  # the body is read: what comes now is the end
        try:
            await asyncio.wait({admission, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not admission.done():
                return False
            admission.result()
            return True
        finally:
            admission.cancel()
            leaving.cancel()


def describe(cause: GrammarRefused, param: str | None) -> JSONResponse:
    """As vLLM tells its own errors."""
    error = {"message": cause.sentence, "type": KINDS[cause.status], "param": param, "code": cause.status}
    return JSONResponse({"error": error}, status_code=cause.status)


async def read_body(receive: Receive) -> bytes | None:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def give_again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that begins with the body that was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return first.pop() if first else await receive()

    return receive_again


def guard_engine(engine: EngineClient, gate: GrammarGate) -> None:
    """Stops a grammar that the body did not tell of, whatever way it came."""
    generate = engine.generate

    async def guarded(prompt: Any, sampling_params: SamplingParams, *rest: Any, **named: Any) -> AsyncGenerator[Any]:
        params = sampling_params.structured_outputs
        if params and not params.all_constraints_none():
            try:
                await gate.admit(tenant_of_request.get(), ParamsOrder(params))
            except GrammarRefused as cause:
                raise VLLMValidationError(cause.sentence, parameter="structured_outputs") from cause
        async with aclosing(generate(prompt, sampling_params, *rest, **named)) as outputs:
            async for output in outputs:
                yield output

    engine.generate = guarded

"""Checks the grammar in the body of a chat or a completion, before vLLM reads it."""

import asyncio
from collections.abc import Sequence

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainyard_engine.fairness.tenants import Tenant, tenant_now
from trainyard_engine.grammars.gate import GrammarGate
from trainyard_engine.grammars.guard import Asked, asked_now
from trainyard_engine.grammars.order import MembersOrder, read_order
from trainyard_engine.grammars.verdict import GrammarError

CHAT = ("POST", "/v1/chat/completions")
COMPLETION = ("POST", "/v1/completions")
# Tools set no grammar of a completion.
COMPLETION_SETTING = ("structured_outputs", "response_format")
# The apiserver recognizes errors of grammars by the first type.
KINDS = {400: "GrammarError", 429: "RateLimitError", 503: "ServiceUnavailableError"}
RETRY_SECONDS = "2"


class GrammarMiddleware:
    """`setting` are the members that can set a grammar of a chat in this engine."""

    def __init__(self, app: ASGIApp, gate: GrammarGate, setting: Sequence[str]) -> None:
        self.app = app
        self.gate = gate
        self.setting = {CHAT: setting, COMPLETION: COMPLETION_SETTING}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        setting = self.setting.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if setting is None:
            await self.app(scope, receive, send)
            return
        asked = Asked(tenant_now.get())
        asked_now.set(asked)
        body = await read_body(receive)
        if body is None:
            return  # the client has disconnected
        order = None
        try:
            order = read_order(body, setting)
            if order and not await self.admit(asked.tenant, order, receive):
                return
        except GrammarError as cause:
            await describe(cause, order and order.param)(scope, receive, send)
            return
        answer = Answer(send, asked)
        await self.app(scope, give_again(body, receive), answer.pass_on)
        if asked.error and not answer.begun:
            await describe(asked.error, "structured_outputs")(scope, receive, send)

    async def admit(self, tenant: Tenant, order: MembersOrder, receive: Receive) -> bool:
        """False when the client disconnected before its grammar was compiled."""
        admission = asyncio.create_task(self.gate.admit(tenant, order))
        leaving = asyncio.ensure_future(receive())  # the body was read, so the next message is the disconnect
        try:
            await asyncio.wait({admission, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not admission.done():
                return False
            admission.result()
            return True
        finally:
            admission.cancel()
            leaving.cancel()


class Answer:
    """vLLM's answer, unless the check at the engine has rejected the request.

    vLLM starts a stream before it calls its engine. It would report the error inside of a successful response.
    """

    def __init__(self, send: Send, asked: Asked) -> None:
        self.send = send
        self.asked = asked
        self.start: Message | None = None
        self.begun = False

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        if not self.begun and self.asked.error:
            return
        if not self.begun and self.start:
            await self.send(self.start)
        self.begun = True
        await self.send(message)


def describe(cause: GrammarError, param: str | None) -> JSONResponse:
    """The error in vLLM's own form."""
    error = {"message": cause.sentence, "type": KINDS[cause.status], "param": param, "code": cause.status}
    headers = {} if cause.status == 400 else {"Retry-After": RETRY_SECONDS}
    return JSONResponse({"error": error}, status_code=cause.status, headers=headers)


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
    """A `receive` that first returns the body, which was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return first.pop() if first else await receive()

    return receive_again

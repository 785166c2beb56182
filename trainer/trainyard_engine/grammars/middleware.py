"""Rejects requests with a grammar that the engine may not have."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from vllm.exceptions import VLLMValidationError

from trainyard_engine.grammars.checker import GrammarChecker, GrammarError
from trainyard_engine.grammars.grammar import find_grammar

# The apiserver recognizes errors of grammars by the first type.
KINDS = {400: "GrammarError", 503: "ServiceUnavailableError"}
RETRY_SECONDS = "2"


@dataclass
class Rejection:
    error: GrammarError | VLLMValidationError | None = None


rejection_now: ContextVar[Rejection] = ContextVar("rejection_now", default=Rejection())  # noqa: B039


def guard_engine(engine: Any, checker: GrammarChecker) -> None:
    """Checks grammars where vLLM's engine receives them, however a request has set them."""
    generate = engine.generate

    async def guarded(prompt: Any, sampling_params: Any, *rest: Any, **named: Any) -> AsyncGenerator[Any]:
        settings = sampling_params.structured_outputs
        try:
            if settings and (grammar := find_grammar(settings)):
                await checker.admit(grammar)
            async with aclosing(generate(prompt, sampling_params, *rest, **named)) as outputs:
                async for output in outputs:
                    yield output
        except GrammarError as cause:
            rejection_now.get().error = cause
            raise
        except VLLMValidationError as cause:
            # vLLM rejects, for example, what xgrammar would leave out of a schema. Errors of other settings name them.
            if settings and cause.parameter is None:
                rejection_now.get().error = cause
            raise

    engine.generate = guarded


class GrammarMiddleware:
    """Replaces vLLM's answer to a rejected request.

    vLLM starts a stream before it calls its engine. It would report the error inside of a successful response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        rejection = Rejection()
        rejection_now.set(rejection)
        start: Message | None = None
        begun = False

        async def pass_on(message: Message) -> None:
            nonlocal start, begun
            if message["type"] == "http.response.start":
                start = message
                return
            if rejection.error and not begun:
                return
            if start:
                begun = True
                await send(start)
                start = None
            await send(message)

        await self.app(scope, receive, pass_on)
        if rejection.error and not begun:
            await describe(rejection.error)(scope, receive, send)


def describe(cause: GrammarError | VLLMValidationError) -> JSONResponse:
    """The error in vLLM's own form."""
    status = cause.http_status if isinstance(cause, GrammarError) else 400
    error = {"message": f"{cause}", "type": KINDS[status], "param": None, "code": status}
    headers = {} if status == 400 else {"Retry-After": RETRY_SECONDS}
    return JSONResponse({"error": error}, status_code=status, headers=headers)

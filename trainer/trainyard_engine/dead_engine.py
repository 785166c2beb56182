"""Errors of an engine whose computing process is dead are marked, so that the apiserver sends the request to another.

vLLM's server outlives that process by some seconds, and answers each request with an error.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from vllm.engine.protocol import EngineClient

DEAD_HEADER = (b"x-trainyard-engine-dead", b"true")
# A request that has met a dead engine is not the cause of its death. One that the engine died under may be.
MET_DEAD, DIED = 503, 500


class DeadEngineMiddleware:
    def __init__(self, app: ASGIApp, engine: EngineClient) -> None:
        self.app = app
        self.engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = MET_DEAD if self.engine.errored else DIED
        start: Message | None = None

        async def pass_on(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message  # vLLM starts a stream before it calls its engine
                return
            if start:
                is_lost = self.engine.errored and can_be_lost(start)
                await send(mark(start, status) if is_lost else start)
                start = None
            await send(message)

        await self.app(scope, receive, pass_on)


def can_be_lost(start: Message) -> bool:
    """Whether an answer is an error, or a stream that may have one inside. vLLM also tells a client that an adapter is
    unknown, if it cannot load it because the engine is dead."""
    content_type = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] >= 400 or content_type.startswith("text/event-stream")


def mark(start: Message, status: int) -> Message:
    return {**start, "status": status, "headers": [*start["headers"], DEAD_HEADER]}

"""Each response has the number of requests that this engine can run at once, so that the apiserver queues the rest."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_REQUESTS_HEADER = b"x-trainyard-max-requests"


class CapacityMiddleware:
    def __init__(self, app: ASGIApp, max_requests: int) -> None:
        self.app = app
        self.header = (MAX_REQUESTS_HEADER, str(max_requests).encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_header(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), self.header]
            await send(message)

        await self.app(scope, receive, send_with_header)

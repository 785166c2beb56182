"""Which routes of vLLM are available, and who may use them."""

import hashlib
import hmac
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH = ("GET", "/health")
KEPT_PATH = "/v1/kept_lora_adapters"
# The routes that the apiserver, the operator and this engine itself use. vLLM has many others, and some of them swap
# weights or stop the engine.
ROUTES = frozenset(
    {
        HEALTH,
        ("GET", "/version"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/tokenize"),
        ("POST", "/detokenize"),
        ("POST", "/v1/unload_lora_adapter"),
        ("PUT", KEPT_PATH),
    }
)


class AccessMiddleware:
    """The first middleware. Only the health route answers without one of the keys. Unused routes answer 404."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self.app = app
        self.digests = [digest_of(f"Bearer {key}") for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # not accepted yet: uvicorn answers 403
        elif error := self.find_error(scope):
            await error(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def find_error(self, scope: Scope) -> JSONResponse | None:
        route = (scope["method"], scope["path"])
        if route == HEALTH:
            return None
        if not self.has_key(scope):
            return JSONResponse({"error": "Unauthorized"}, status_code=401)
        if route not in ROUTES:
            return JSONResponse({"error": "Not found"}, status_code=404)
        return None

    def has_key(self, scope: Scope) -> bool:
        # Digests have the same length, so that the comparison time does not reveal the key's length.
        given = digest_of(Headers(scope=scope).get("authorization", ""))
        return any(hmac.compare_digest(given, digest) for digest in self.digests)


def digest_of(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()

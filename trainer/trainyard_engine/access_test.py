import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from trainyard_engine.access import ROUTES, AccessMiddleware

UNUSED = [
    ("POST", "/invocations"),
    ("GET", "/ping"),
    ("POST", "/adapters"),
    ("GET", "/metrics"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/completions/render"),
    ("POST", "/pooling"),
    ("GET", "/tokenizer_info"),
    ("GET", "/is_sleeping"),
    ("POST", "/v1/load_lora_adapter"),
    ("GET", "/v1/chat/completions"),
    ("OPTIONS", "/v1/models"),
    ("GET", "/v1/models/"),
    ("GET", "//v1/models"),
    ("GET", "/docs"),
    ("POST", "/health"),
]


def open_app():
    """An app that answers every request."""
    methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS"]
    everything = Route("/{path:path}", lambda _: PlainTextResponse("served"), methods=methods)

    async def talk(socket):
        await socket.accept()

    return AccessMiddleware(
        Starlette(routes=[everything, WebSocketRoute("/{path:path}", talk)]), ["the key", "the previous key"]
    )


def ask(method, path, **headers):
    async def run():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(open_app()), base_url="http://engine") as client:
            return await client.request(
                method, httpx.URL("http://engine").copy_with(raw_path=path.encode()), headers=headers
            )

    return asyncio.run(run()).status_code


@pytest.mark.parametrize(("method", "path"), sorted({*ROUTES, *UNUSED}))
@pytest.mark.parametrize("given", [None, "", "the key", "Bearer", "Bearer wrong", "Basic the key", "Bearer the key2"])
def test_without_the_key_only_the_health_route_answers(method, path, given):
    headers = {} if given is None else {"authorization": given}
    assert ask(method, path, **headers) == (200 if (method, path) == ("GET", "/health") else 401)


def test_the_health_needs_no_key():
    assert ask("GET", "/health") == 200


@pytest.mark.parametrize(("method", "path"), sorted(ROUTES))
@pytest.mark.parametrize("key", ["the key", "the previous key"])
def test_used_routes_answer_with_one_of_the_keys(method, path, key):
    assert ask(method, path, authorization=f"Bearer {key}") == 200


@pytest.mark.parametrize(("method", "path"), UNUSED)
def test_unused_routes_are_not_found(method, path):
    assert ask(method, path, authorization="Bearer the key") == 404


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer the key"}])
def test_a_web_socket_is_rejected(headers):
    client = TestClient(open_app())
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/v1/realtime", headers=headers):
        pass

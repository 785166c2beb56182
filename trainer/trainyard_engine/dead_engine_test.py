from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from trainyard_engine.dead_engine import DeadEngineMiddleware

HEADER = "x-trainyard-engine-dead"


def ask(path, *, before=False, after=False):
    """How an engine answers that is dead or alive before and after it has taken the request."""
    engine = SimpleNamespace(errored=before)

    async def answer(request):
        engine.errored = after
        return JSONResponse({"error": "died"}, int(request.path_params["status"]))

    def stream(_):
        async def events():
            yield "data: 1\n\n"
            engine.errored = after
            yield "data: 2\n\n"

        async def error():
            engine.errored = after
            yield 'data: {"error": {}}\n\n'

        return StreamingResponse((error if after == "at once" else events)(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/stream", stream), Route("/{status}", answer)])
    with TestClient(DeadEngineMiddleware(app, engine)) as client:
        response = client.get(path)
    return response.status_code, response.headers.get(HEADER), response.text


@pytest.mark.parametrize("path", ["/500", "/503", "/404", "/400"])
def test_an_error_of_a_dead_engine_is_marked(path):
    assert ask(path, after=True) == (500, "true", '{"error":"died"}')


def test_an_error_of_an_engine_that_was_dead_before_has_another_status():
    assert ask("/500", before=True, after=True) == (503, "true", '{"error":"died"}')


@pytest.mark.parametrize("path", ["/500", "/404", "/200"])
def test_an_answer_of_a_living_engine_is_passed_on(path):
    assert ask(path) == (int(path[1:]), None, '{"error":"died"}')


def test_a_complete_answer_of_a_dead_engine_is_passed_on():
    assert ask("/200", after=True) == (200, None, '{"error":"died"}')


def test_a_stream_whose_engine_dies_before_its_first_event_is_an_error():
    assert ask("/stream", after="at once")[:2] == (500, "true")


def test_a_stream_that_has_begun_is_passed_on():
    assert ask("/stream", after=True) == (200, None, "data: 1\n\ndata: 2\n\n")

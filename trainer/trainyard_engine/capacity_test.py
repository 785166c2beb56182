from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from trainyard_engine.capacity import CapacityMiddleware


def test_each_response_says_how_many_requests_run_at_once():
    route = Route("/served", lambda _: PlainTextResponse("served", headers={"x-own": "1"}))
    client = TestClient(CapacityMiddleware(Starlette(routes=[route]), 128))
    served, missing = client.get("/served"), client.get("/missing")
    assert (served.headers["x-trainyard-max-requests"], served.headers["x-own"]) == ("128", "1")
    assert (missing.status_code, missing.headers["x-trainyard-max-requests"]) == (404, "128")

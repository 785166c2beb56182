"""Tests the real middleware and guard around a fake vLLM, which starts a stream before it generates."""

import asyncio
import json
from dataclasses import dataclass

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from vllm.entrypoints.serve import create_error_response
from vllm.sampling_params import SamplingParams, StructuredOutputsParams

from trainyard_engine.fairness.tenants import TenantMiddleware
from trainyard_engine.grammars.guard import guard_engine
from trainyard_engine.grammars.middleware import GrammarMiddleware
from trainyard_engine.grammars.order import ParamsOrder
from trainyard_engine.grammars.verdict import GrammarError

BODY_SETS = ("structured_outputs",)
PATHS = ("/v1/chat/completions", "/v1/completions")
STRUCTURED = {"structured_outputs": {"regex": "a"}}
PARAMS = SamplingParams(structured_outputs=StructuredOutputsParams(regex="a"))


@dataclass
class Gate:
    """Rejects at the body, at the engine, or never."""

    error: GrammarError | None = None
    at_engine: bool = False

    async def admit(self, tenant, order):
        self.tenant = tenant
        if self.error and isinstance(order, ParamsOrder) is self.at_engine:
            raise self.error


class Engine:
    async def generate(self, prompt, sampling_params):
        for text in ("data: a\n\n", "data: b\n\n"):
            yield text


def open_app(gate):
    engine = Engine()
    guard_engine(engine, gate)

    async def chat(request):
        outputs = engine.generate("", PARAMS)
        if not (await request.json()).get("stream"):
            try:
                return JSONResponse([text async for text in outputs])
            except Exception as cause:
                error = create_error_response(cause)
                return JSONResponse(error.model_dump(), status_code=error.error.code)
        return StreamingResponse(stream_errors(outputs), media_type="text/event-stream")

    routes = [Route(path, chat, methods=["POST"]) for path in PATHS]
    return TenantMiddleware(GrammarMiddleware(Starlette(routes=routes), gate, BODY_SETS))


async def stream_errors(outputs):
    try:
        async for text in outputs:
            yield text
    except Exception as cause:
        yield f"data: {json.dumps(create_error_response(cause).model_dump())}\n\n"


def ask(gate, path=PATHS[0], **more):
    async def run():
        transport = httpx.ASGITransport(open_app(gate))
        async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
            headers = {"x-trainyard-tenant": "somebody", "x-trainyard-weight": "2.5"}
            return await client.post(path, json={"messages": [], **more}, headers=headers)

    return asyncio.run(run())


REFUSALS = [
    (400, "GrammarError", None),
    (429, "RateLimitError", "2"),
    (503, "ServiceUnavailableError", "2"),
]


@pytest.mark.parametrize(("status", "kind", "retry_after"), REFUSALS)
@pytest.mark.parametrize("at_engine", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_rejection_keeps_its_status_wherever_it_is_found(status, kind, retry_after, at_engine, stream, path):
    response = ask(Gate(GrammarError(status, "no"), at_engine), path, stream=stream, **STRUCTURED)
    assert (response.status_code, response.headers.get("retry-after")) == (status, retry_after)
    assert response.json() == {"error": {"message": "no", "type": kind, "param": "structured_outputs", "code": status}}


def test_an_admitted_request_gets_the_answer_of_vllm():
    gate = Gate()
    assert ask(gate, **STRUCTURED).json() == ["data: a\n\n", "data: b\n\n"]
    response = ask(gate, stream=True, **STRUCTURED)
    assert (response.status_code, response.text) == (200, "data: a\n\ndata: b\n\n")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert (gate.tenant.name, gate.tenant.weight) == ("somebody", 2.5)


def test_tools_set_no_grammar_of_a_completion():
    tools = [{"type": "function", "function": {"name": "a", "strict": True}}]
    assert not hasattr(admit_none(PATHS[1], tools=tools), "tenant")


def admit_none(path, **body):
    gate = Gate()
    app = GrammarMiddleware(JSONResponse({}), gate, (*BODY_SETS, "tools"))

    async def run():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://engine") as client:
            return await client.post(path, json=body)

    asyncio.run(run())
    return gate

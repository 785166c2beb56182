"""Tests the real middleware and guard around a fake vLLM, which starts a stream before it generates."""

import asyncio
import json
from http import HTTPStatus

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from vllm.entrypoints.serve import create_error_response
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams

from trainyard_engine.grammars.checker import GrammarError
from trainyard_engine.grammars.middleware import GrammarMiddleware, guard_engine


class Checker:
    def __init__(self, error=None):
        self.error = error
        self.admitted = []

    async def admit(self, grammar):
        if self.error:
            raise self.error
        self.admitted.append((grammar.kind, grammar.text))


class Engine:
    def __init__(self, error=None):
        self.error = error

    async def generate(self, prompt, sampling_params):
        if self.error:
            raise self.error
        for text in ("data: a\n\n", "data: b\n\n"):
            yield text


async def stream_errors(outputs):
    try:
        async for text in outputs:
            yield text
    except Exception as cause:
        yield f"data: {json.dumps(create_error_response(cause).model_dump())}\n\n"


def ask(checker, engine=None, stream=False, grammar=True):
    engine = engine or Engine()
    guard_engine(engine, checker)
    params = SamplingParams(structured_outputs=StructuredOutputsParams(regex="a") if grammar else None)

    async def chat(request):
        outputs = engine.generate("", params)
        if stream:
            return StreamingResponse(stream_errors(outputs), media_type="text/event-stream")
        try:
            return JSONResponse([text async for text in outputs])
        except Exception as cause:
            error = create_error_response(cause)
            return JSONResponse(error.model_dump(), status_code=error.error.code)

    async def run():
        app = GrammarMiddleware(Starlette(routes=[Route("/", chat, methods=["POST"])]))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://engine") as client:
            return await client.post("/")

    return asyncio.run(run())


REJECTIONS = [
    (Checker(GrammarError("no", HTTPStatus.BAD_REQUEST)), Engine(), (400, "GrammarError", None)),
    (Checker(GrammarError("no", HTTPStatus.SERVICE_UNAVAILABLE)), Engine(), (503, "ServiceUnavailableError", "2")),
    (Checker(), Engine(VLLMValidationError("no")), (400, "GrammarError", None)),
]


@pytest.mark.parametrize(("checker", "engine", "expected"), REJECTIONS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_rejection_has_its_status_in_a_stream_too(checker, engine, expected, stream):
    status, kind, retry_after = expected
    response = ask(checker, engine, stream)
    assert (response.status_code, response.headers.get("retry-after")) == (status, retry_after)
    assert response.json() == {"error": {"message": "no", "type": kind, "param": None, "code": status}}


@pytest.mark.parametrize("grammar", [False, True])
def test_an_error_of_another_setting_stays_vllm_s(grammar):
    response = ask(Checker(), Engine(VLLMValidationError("no", parameter="seed" if grammar else None)), grammar=grammar)
    assert (response.status_code, response.json()["error"]["type"]) == (400, "BadRequestError")


def test_an_admitted_request_gets_the_answer_of_vllm():
    checker = Checker()
    assert ask(checker).json() == ["data: a\n\n", "data: b\n\n"]
    response = ask(checker, stream=True)
    assert (response.status_code, response.text) == (200, "data: a\n\ndata: b\n\n")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert checker.admitted == [("regex", "a")] * 2
    ask(checker, grammar=False)
    assert len(checker.admitted) == 2

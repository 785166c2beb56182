"""Checks grammars again where the engine receives them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from vllm.engine.protocol import EngineClient
from vllm.exceptions import GracefulHTTPError
from vllm.sampling_params import SamplingParams

from trainyard_engine.fairness.tenants import Tenant
from trainyard_engine.grammars.gate import GrammarGate
from trainyard_engine.grammars.order import ParamsOrder
from trainyard_engine.grammars.verdict import GrammarError


@dataclass
class Asked:
    """A request in progress: its tenant, and the error that its grammar caused here."""

    tenant: Tenant
    error: GrammarError | None = None


asked_now: ContextVar[Asked | None] = ContextVar("asked_now", default=None)


def guard_engine(engine: EngineClient, gate: GrammarGate) -> None:
    """Rejects a grammar that the body did not show, however it was set."""
    generate = engine.generate

    async def guarded(prompt: Any, sampling_params: SamplingParams, *rest: Any, **named: Any) -> AsyncGenerator[Any]:
        params = sampling_params.structured_outputs
        if params and not params.all_constraints_none():
            asked = asked_now.get() or Asked(Tenant())
            try:
                await gate.admit(asked.tenant, ParamsOrder(params))
            except GrammarError as cause:
                asked.error = cause
                raise GracefulHTTPError(cause.sentence, HTTPStatus(cause.status)) from cause
        async with aclosing(generate(prompt, sampling_params, *rest, **named)) as outputs:
            async for output in outputs:
                yield output

    engine.generate = guarded

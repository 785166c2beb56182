"""Which tenant a request is of, from the apiserver's headers to the scheduler."""

from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from vllm.engine.protocol import EngineClient
from vllm.v1.request import Request

# The tenant of the request and its weight, from the apiserver. The tenant's name is opaque: it only shows whether two
# tenants are the same.
TENANT_HEADER = "x-trainyard-tenant"
WEIGHT_HEADER = "x-trainyard-weight"
# The member of vLLM's own parameters that has them in the engine's process.
MEMBER = "trainyard_tenant"


@dataclass(frozen=True)
class Tenant:
    """A tenant of twice the weight gets twice as much while others wait."""

    name: str = ""
    weight: float = field(default=1, compare=False)


tenant_now: ContextVar[Tenant] = ContextVar("tenant_now", default=Tenant())  # noqa: B039


class TenantMiddleware:
    """Remembers the tenant of a request. No other client than the apiserver has the engine's key."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            tenant_now.set(Tenant(headers.get(TENANT_HEADER, ""), float(headers.get(WEIGHT_HEADER, 1))))
        await self.app(scope, receive, send)


def name_tenants(engine: EngineClient) -> None:
    """Writes the tenant into the parameters of each request that the engine gets."""
    engine.generate = naming(engine.generate, "sampling_params", "extra_args")
    engine.encode = naming(engine.encode, "pooling_params", "extra_kwargs")


def naming(send: Callable[..., AsyncGenerator[Any]], argument: str, members: str) -> Callable[..., AsyncGenerator[Any]]:
    """`argument` has the parameters. It is the second one, if it is not named."""

    def send_named(*given: Any, **named: Any) -> AsyncGenerator[Any]:
        params = named[argument] if argument in named else given[1]
        tenant = tenant_now.get()
        setattr(params, members, {**(getattr(params, members) or {}), MEMBER: [tenant.name, tenant.weight]})
        return send(*given, **named)

    return send_named


def tenant_of(request: Request) -> Tenant:
    """The tenant of a request in the scheduler. Requests of the engine itself have a tenant of their own."""
    params = request.sampling_params
    members = params.extra_args if params else request.pooling_params and request.pooling_params.extra_kwargs
    return Tenant(*(members or {}).get(MEMBER, ()))

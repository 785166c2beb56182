"""The engine's metrics on a separate port, without the ids of checkpoints."""

import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

# The labels of this metric list the adapters of running and waiting requests.
ADAPTER_LISTS = "vllm:lora_requests_info"
CHECKPOINT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class TenantlessMetrics(Collector):
    """The metrics of another registry, without samples that name a checkpoint."""

    def __init__(self, source: CollectorRegistry) -> None:
        self.source = source

    def collect(self) -> Iterable[Metric]:
        for metric in self.source.collect():
            if metric.name == ADAPTER_LISTS:
                continue
            kept = Metric(metric.name, metric.documentation, metric.type, metric.unit)
            kept.samples = [sample for sample in metric.samples if not names_checkpoint(sample.labels)]
            yield kept


def names_checkpoint(labels: dict[str, str]) -> bool:
    return any(CHECKPOINT_ID.search(value) for value in labels.values())


def build_metrics_app(source: CollectorRegistry) -> Starlette:
    registry = CollectorRegistry()
    registry.register(TenantlessMetrics(source))

    def answer(_: object) -> Response:
        return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])


class QuietServer(uvicorn.Server):
    """Leaves signal handling to the engine's server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_metrics(source: CollectorRegistry, listener: socket.socket) -> None:
    """Serves until it is cancelled."""
    config = uvicorn.Config(build_metrics_app(source), log_level="warning", access_log=False, lifespan="off")
    await QuietServer(config).serve(sockets=[listener])

"""The trainer's metrics in Prometheus' text format, on a port of their own. `metrics.json` declares them."""

import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import ClassVar

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from trainyard_trainer.worker import Worker

DECLARED = json.loads(Path(__file__).with_name("metrics.json").read_text())
# A client that sends nothing keeps no thread for longer.
READ_SECONDS = 5


@dataclass(eq=False)
class TrainerCollector(Collector):
    """Reads the counts of a worker when it is scraped. `devices`: its GPUs, or one processor."""

    worker: Worker
    devices: int
    started: float = field(default_factory=time.monotonic)

    def collect(self) -> Iterable[Metric]:
        scheduler = self.worker.scheduler
        busy = scheduler.busy_seconds
        idle = max(0.0, time.monotonic() - self.started - busy)
        yield build_counter("jobs", self.worker.list_outcomes())
        yield build_counter("steps", [((), scheduler.steps_taken)])
        yield build_counter("tokens", [((), scheduler.tokens_trained)])
        yield build_counter("deviceSeconds", [(("busy",), busy * self.devices), (("idle",), idle * self.devices)])
        running = DECLARED["gauges"]["running"]
        yield GaugeMetricFamily(running["name"], running["help"], value=len(self.worker.running))


def build_counter(name: str, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    declared = DECLARED["counters"][name]
    family = CounterMetricFamily(declared["name"], declared["help"], labels=declared["labelNames"])
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


class Handler(BaseHTTPRequestHandler):
    """Closes the connection after each answer."""

    registry: ClassVar[CollectorRegistry]
    timeout = READ_SECONDS

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/metrics":
            self.answer(200, CONTENT_TYPE_LATEST, generate_latest(self.registry))
        else:
            self.answer(404, "text/plain", b"Not found. Metrics are at GET /metrics.\n")

    def answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class MetricsServer(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """HTTPServer would look its own name up, which may take seconds."""
        TCPServer.server_bind(self)


@contextmanager
def served_metrics(worker: Worker, devices: int, address: tuple[str, int] | None) -> Iterator[int | None]:
    """Serves the metrics of a worker, and yields the port. Without an address, nobody asks."""
    if address is None:
        yield None
        return
    registry = CollectorRegistry()
    registry.register(TrainerCollector(worker, devices))
    server = MetricsServer(address, type("MetricsHandler", (Handler,), {"registry": registry}))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from starlette.testclient import TestClient

from trainyard_engine.metrics import build_metrics_app

ID = "0af1bed4-69fa-474f-be16-a18cc731a38f"


@pytest.fixture
def text():
    registry = CollectorRegistry()
    lists = Gauge("vllm:lora_requests_info", "lists", ["running_lora_adapters"], registry=registry)
    lists.labels(f"{ID},x").set(1)
    requests = Counter("vllm:requests", "by model", ["model_name"], registry=registry)
    requests.labels("trainyard/tiny").inc(3)
    requests.labels(ID).inc(4)
    requests.labels(f"{ID}-lora").inc(5)
    return TestClient(build_metrics_app(registry)).get("/metrics").text


def test_metrics_are_served(text):
    assert 'vllm:requests_total{model_name="trainyard/tiny"} 3.0' in text
    assert "# TYPE vllm:requests_total counter" in text


def test_no_checkpoint_is_named(text):
    assert ID not in text
    assert "lora_requests_info" not in text

"""Spans of OpenTelemetry's SDK arrive as calls. Reads TRAINYARD_URL and TRAINYARD_API_KEY."""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

ENTITY = os.environ.get("TRAINYARD_ENTITY", "local")

exporter = OTLPSpanExporter(
    endpoint=os.environ["TRAINYARD_URL"] + "/traces/otel/v1/traces",
    headers={"wandb-api-key": os.environ["TRAINYARD_API_KEY"]},
)
resource = Resource.create({"service.name": "examples", "wandb.entity": ENTITY, "wandb.project": "examples"})
provider = TracerProvider(resource=resource)
provider.add_span_processor(BatchSpanProcessor(exporter))
tracer = provider.get_tracer("examples")

with tracer.start_as_current_span("answer") as span:
    span.set_attribute("input.value", "why?")
    with tracer.start_as_current_span("chat") as chat:
        chat.set_attribute("gen_ai.response.model", "tiny-chat")
        chat.set_attribute("gen_ai.usage.input_tokens", 11)
        chat.set_attribute("gen_ai.usage.output_tokens", 5)
    span.set_attribute("output.value", "because")

if not provider.force_flush():
    raise SystemExit("the spans were not sent")
trace_id = trace.format_trace_id(span.get_span_context().trace_id)
print(f"sent the trace {trace_id} to {ENTITY}/examples")
provider.shutdown()

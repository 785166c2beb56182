"""Spans through the OpenTelemetry SDK of Python and its exporter for protobuf over HTTP.

TRACES_URL is the address. The exporter itself reads other settings (compression, headers) from the environment.
"""

import json
import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

provider = TracerProvider(resource=Resource.create(json.loads(os.environ.get("RESOURCE", "{}"))))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=os.environ["TRACES_URL"])))
tracer = provider.get_tracer("test")

asked = {
    "input.value": '{"question": "why?"}',
    "wandb.display_name": "Why",
    "wandb.thread_id": "talk",
    "wandb.is_turn": True,
}
chatted = {
    "gen_ai.system": "trainyard",
    "gen_ai.response.model": "tide-1",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.usage.input_tokens": 11,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "why? ☂",
    "gen_ai.completion.0.content": "because",
    "app.tags": ["a", "b"],
}
with tracer.start_as_current_span("answer", kind=SpanKind.SERVER, attributes=asked) as root:
    with tracer.start_as_current_span("chat", kind=SpanKind.CLIENT, attributes=chatted) as chat:
        chat.add_event("first token", {"at": 3})
    with tracer.start_as_current_span("tool", record_exception=False, set_status_on_exception=False) as broken:
        broken.record_exception(RuntimeError("it broke"))
        broken.set_status(Status(StatusCode.ERROR, "it broke"))
    root.set_attribute("output.value", "because")
for number in range(700):
    tracer.start_span("many", attributes={"number": number}).end()

flushed = provider.force_flush()
provider.shutdown()
context = root.get_span_context()
print(
    json.dumps(
        {
            "trace_id": trace.format_trace_id(context.trace_id),
            "root": trace.format_span_id(context.span_id),
            "chat": trace.format_span_id(chat.get_span_context().span_id),
        }
    )
)

"""Chats of the openai client, observed by OpenLLMetry: a tool call, its result, and a stream."""

from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from otel import export_spans

provider = export_spans()
OpenAIInstrumentor().instrument(tracer_provider=provider)

from openai_chats import run_chats  # noqa: E402

run_chats()
provider.shutdown()

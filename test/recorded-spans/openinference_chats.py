"""The same chats, observed by OpenInference, in a session."""

from openinference.instrumentation import using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from otel import export_spans

provider = export_spans()
OpenAIInstrumentor().instrument(tracer_provider=provider)

from openai_chats import run_chats  # noqa: E402

with using_session("session-1"):
    run_chats()
provider.shutdown()

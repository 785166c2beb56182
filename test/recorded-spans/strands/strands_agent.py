"""A Strands agent with a tool, and a second turn of the same session."""

import os

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.telemetry import StrandsTelemetry

telemetry = StrandsTelemetry().setup_otlp_exporter()


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city.

    Args:
        city: The city.
    """
    return f"7 degrees in {city}"


client = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": "any"}
agent = Agent(
    model=OpenAIModel(client_args=client, model_id=os.environ["MODEL"]),
    system_prompt="Be brief.",
    tools=[get_weather],
    callback_handler=None,
    trace_attributes={"session.id": "session-1"},
)
agent("How warm is it in Oslo?")
agent("And now?")
telemetry.tracer_provider.shutdown()

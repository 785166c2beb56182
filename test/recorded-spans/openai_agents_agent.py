"""An agent of the OpenAI Agents SDK with a tool, observed by OpenInference, in a group of traces."""

import os

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_trace_processors, trace
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from otel import export_spans

# Nothing goes to OpenAI.
set_trace_processors([])
provider = export_spans()
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"7 degrees in {city}"


model = OpenAIChatCompletionsModel(model=os.environ["MODEL"], openai_client=AsyncOpenAI())
agent = Agent(name="forecaster", instructions="Be brief.", tools=[get_weather], model=model)
with trace("weather", group_id="group-1"):
    Runner.run_sync(agent, "How warm is it in Oslo?")
provider.shutdown()

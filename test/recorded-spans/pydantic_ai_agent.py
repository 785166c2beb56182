"""A pydantic-ai agent with a tool, observed by logfire, and a second turn of the same conversation."""

import os

import logfire
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

logfire.configure(send_to_logfire=False, console=False)
logfire.instrument_pydantic_ai()

provider = OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key="any")
agent = Agent(OpenAIChatModel(os.environ["MODEL"], provider=provider), instructions="Be brief.", name="forecaster")


@agent.tool_plain
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"7 degrees in {city}"


first = agent.run_sync("How warm is it in Oslo?")
agent.run_sync("And now?", message_history=first.all_messages())
logfire.force_flush()

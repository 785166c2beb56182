"""The client and the tool that the agents of this folder share. Importing it turns tracing to OpenAI off."""

import os

from agents import function_tool, set_tracing_disabled
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
set_tracing_disabled(True)
called: list[str] = []


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    called.append(city)
    return "It is sunny."

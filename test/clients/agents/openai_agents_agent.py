"""An agent of openai-agents: a tool loop, plain and streamed, structured output by a schema, and an error.

A model name with slashes needs a model object. In a plain name, this SDK treats the part before the first slash as a
provider.
"""

import asyncio
import json
import os

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner
from openai import NotFoundError
from pydantic import BaseModel
from weather_tool import called, client, get_weather


class City(BaseModel):
    name: str
    coastal: bool


model = OpenAIChatCompletionsModel(model=os.environ["MODEL"], openai_client=client)
settings = ModelSettings(temperature=0, max_tokens=64, tool_choice="required")
agent = Agent(
    name="Assistant", instructions="You are helpful.", model=model, model_settings=settings, tools=[get_weather]
)


async def main():
    plain = await Runner.run(agent, "Use get_weather for garden.")
    plain_calls = [*called]
    streamed = Runner.run_streamed(agent, "Use get_weather for garden.")
    events = [event.type async for event in streamed.stream_events()]
    geographer = Agent(
        name="Geographer", model=model, model_settings=ModelSettings(temperature=0, max_tokens=64), output_type=City
    )
    city = (await Runner.run(geographer, "Name a city.")).final_output
    try:
        await Runner.run(
            Agent(name="Nobody", model=OpenAIChatCompletionsModel(model="no/such/model", openai_client=client)), "hi"
        )
        error = None
    except NotFoundError as raised:
        error = raised.status_code
    seen = {
        "calls": [plain_calls, called[len(plain_calls) :]],
        "texts": [plain.final_output, streamed.final_output],
        "events": sorted(set(events)),
        "city": city.model_dump(),
        "error": error,
    }
    print(json.dumps(seen))


asyncio.run(main())

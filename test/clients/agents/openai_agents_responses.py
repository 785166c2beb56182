"""An agent of openai-agents with its default interface, /v1/responses.

A tool loop, plain and streamed, conversations that the server or the client keeps, an output by a schema, and errors.
"""

import asyncio
import json
import os

from agents import Agent, ModelSettings, OpenAIProvider, RunConfig, Runner, SQLiteSession, WebSearchTool
from openai import NotFoundError, UnprocessableEntityError
from pydantic import BaseModel
from weather_tool import called, client, get_weather


class City(BaseModel):
    name: str
    coastal: bool


# Without a provider, the SDK takes the part of a model's name before the first slash for one.
config = RunConfig(model_provider=OpenAIProvider(openai_client=client))

settings = ModelSettings(temperature=0, max_tokens=64)
name = os.environ["MODEL"]
question = "Use get_weather for garden."
agent = Agent(
    name="Assistant",
    instructions="You are helpful.",
    model=name,
    model_settings=settings.resolve(ModelSettings(tool_choice="required")),
    tools=[get_weather],
)
listener = Agent(name="Listener", model=name, model_settings=settings)


async def run_streamed() -> tuple[str, set[str], str]:
    """The answer, the types of the interface's events, and the arguments of the call as they came in pieces."""
    streamed = Runner.run_streamed(agent, question, run_config=config)
    raw = [event.data async for event in streamed.stream_events() if event.type == "raw_response_event"]
    pieces = [event.delta for event in raw if event.type == "response.function_call_arguments.delta"]
    return streamed.final_output, {event.type for event in raw}, "".join(pieces)


async def count_prompt_tokens(**history: object) -> int:
    """Asks a second question."""
    answer = await Runner.run(listener, "Name a city.", run_config=config, **history)
    return answer.raw_responses[-1].usage.input_tokens


async def catch(kind: type[Exception], failing: Agent) -> str | None:
    try:
        await Runner.run(failing, question, run_config=config)
    except kind as raised:
        return raised.message
    return None


async def main() -> None:
    plain = await Runner.run(agent, question, run_config=config)
    text, events, pieces = await run_streamed()
    chained = await Runner.run(agent, question, run_config=config, auto_previous_response_id=True)
    session = SQLiteSession("one")
    kept = await Runner.run(agent, question, run_config=config, session=session)
    alone = await count_prompt_tokens()
    prompt_tokens = [
        await count_prompt_tokens(previous_response_id=chained.last_response_id),
        await count_prompt_tokens(session=session),
    ]
    geographer = Agent(name="Geographer", model=name, model_settings=settings, output_type=City)
    city = (await Runner.run(geographer, "Name a city.", run_config=config)).final_output
    seen = {
        "calls": called,
        "texts": [plain.final_output, text, chained.final_output, kept.final_output],
        "streamed_call": json.loads(pieces),
        "events": sorted(events),
        "chained": [response.response_id.startswith("resp_") for response in chained.raw_responses],
        "remembers": [count > alone for count in prompt_tokens],
        "city": city.model_dump(),
        "errors": [
            await catch(NotFoundError, Agent(name="Nobody", model="no/such/model")),
            await catch(UnprocessableEntityError, Agent(name="Searcher", model=name, tools=[WebSearchTool()])),
        ],
    }
    print(json.dumps(seen))


asyncio.run(main())

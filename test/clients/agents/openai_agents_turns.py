"""An agent of openai-agents, over /v1/responses, in two turns with a tool in each.

The second turn goes on from the first by `previous_response_id`, and by references to its items.
"""

import asyncio
import json
import os

from agents import Agent, ModelSettings, OpenAIProvider, RunConfig, Runner, RunResult
from weather_tool import called, client, get_weather

config = RunConfig(model_provider=OpenAIProvider(openai_client=client))

question = "Use get_weather for garden."
agent = Agent(
    name="Assistant",
    instructions="You are helpful.",
    model=os.environ["MODEL"],
    model_settings=ModelSettings(temperature=0, max_tokens=64, tool_choice="required"),
    tools=[get_weather],
)


def refer(item: dict) -> dict:
    """What the server has made is known to it by its id. The tool's output is the client's."""
    if item.get("role") == "user" or item["type"] == "function_call_output":
        return item
    return {"type": "item_reference", "id": item["id"]}


def describe(turn: RunResult) -> dict:
    return {
        "text": turn.final_output,
        "items": [item.type for item in turn.new_items],
        "prompt_tokens": turn.raw_responses[0].usage.input_tokens,
    }


async def main() -> None:
    first = await Runner.run(agent, question, run_config=config, auto_previous_response_id=True)
    chained = await Runner.run(
        agent,
        question,
        run_config=config,
        previous_response_id=first.last_response_id,
        auto_previous_response_id=True,
    )
    items = [*map(refer, first.to_input_list()), {"role": "user", "content": question}]
    referring = await Runner.run(agent, items, run_config=config)
    stored = [await client.responses.retrieve(each.response_id) for each in chained.raw_responses]
    seen = {
        "calls": called,
        "turns": [describe(turn) for turn in (first, chained, referring)],
        "references": sum(item.get("type") == "item_reference" for item in items),
        "chain": [response.previous_response_id for response in stored]
        == [first.last_response_id, chained.raw_responses[0].response_id],
    }
    print(json.dumps(seen))


asyncio.run(main())

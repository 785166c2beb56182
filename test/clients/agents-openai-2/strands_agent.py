"""A Strands agent: a tool loop, which it always streams, and an error."""

import json
import os

from openai import NotFoundError
from strands import Agent, tool
from strands.models.openai import OpenAIModel

called = []


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city.

    Args:
        city: The city.
    """
    called.append(city)
    return "It is sunny."


client = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
params = {"temperature": 0, "max_tokens": 64}
model = OpenAIModel(client_args=client, model_id=os.environ["MODEL"], params=params)
agent = Agent(model=model, tools=[get_weather], callback_handler=None)
result = agent("Use get_weather for garden.")
try:
    Agent(model=OpenAIModel(client_args=client, model_id="no/such/model"), callback_handler=None)("hi")
    error = None
except NotFoundError as raised:
    error = raised.status_code

seen = {
    "calls": called,
    "reason": result.stop_reason,
    "text": str(result).strip(),
    "roles": [message["role"] for message in agent.messages],
    "used_tokens": result.metrics.accumulated_usage["outputTokens"] > 0,
    "error": error,
}
print(json.dumps(seen))

"""An agent of pydantic-ai: a tool loop, plain and streamed, structured output by a tool, and an error."""

import json
import os

from pydantic import BaseModel
from pydantic_ai import Agent, ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class City(BaseModel):
    name: str
    coastal: bool


provider = OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
model = OpenAIChatModel(os.environ["MODEL"], provider=provider)
settings = {"temperature": 0, "max_tokens": 64}
called = []

agent = Agent(model, model_settings=settings)


@agent.tool_plain
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    called.append(city)
    return "It is sunny."


plain = agent.run_sync("Use get_weather for garden.")
plain_calls = [*called]
with agent.run_stream_sync("Use get_weather for garden.") as streamed:
    text = "".join(streamed.stream_text(delta=True))

city = Agent(model, model_settings=settings, output_type=City).run_sync("Name a city.").output

try:
    Agent(OpenAIChatModel("no/such/model", provider=provider)).run_sync("hi")
    error = None
except ModelHTTPError as raised:
    error = raised.status_code

seen = {
    "calls": [plain_calls, called[len(plain_calls) :]],
    "texts": [plain.output, text],
    "used_tokens": plain.usage.output_tokens > 0,
    "city": city.model_dump(),
    "error": error,
}
print(json.dumps(seen))

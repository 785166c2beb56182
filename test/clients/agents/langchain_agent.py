"""LangChain: tools by bind_tools, plain and streamed, an agent's loop, structured output by a schema, and an error."""

import json
import os

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import NotFoundError
from pydantic import BaseModel

called = []


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    called.append(city)
    return "It is sunny."


class City(BaseModel):
    """A city."""

    name: str
    coastal: bool


llm = ChatOpenAI(
    model=os.environ["MODEL"],
    base_url=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    temperature=0,
    max_tokens=64,
    stream_usage=True,
)
question = "Use get_weather for garden."
forced = llm.bind_tools([get_weather], tool_choice="get_weather")
messages = [HumanMessage(question)]
answer = forced.invoke(messages)
messages.append(answer)
for call in answer.tool_calls:
    messages.append(get_weather.invoke(call))
end = llm.bind_tools([get_weather]).invoke(messages)
invoked = [*called]

chunks = list(forced.stream(question))
streamed = chunks[0]
for chunk in chunks[1:]:
    streamed += chunk

loop = create_agent(llm, [get_weather]).invoke({"messages": [{"role": "user", "content": question}]})
methods = ["function_calling", "json_schema"]
cities = [llm.with_structured_output(City, method=method).invoke("Name a city.") for method in methods]
try:
    llm.model_copy(update={"model_name": "no/such/model"}).invoke("hi")
    error = None
except NotFoundError as raised:
    error = raised.status_code

seen = {
    "calls": [invoked, [call["args"]["city"] for call in streamed.tool_calls], called[len(invoked) :]],
    "in_pieces": sum(len(chunk.tool_call_chunks) for chunk in chunks) > 2,
    "used_tokens": [message.usage_metadata["output_tokens"] > 0 for message in [answer, streamed]],
    "texts": [end.content, loop["messages"][-1].content],
    "kinds": [message.type for message in loop["messages"]],
    "cities": [city.model_dump() for city in cities],
    "error": error,
}
print(json.dumps(seen))

"""Instructor: pydantic models from a chat, by a tool and by a schema, complete and partial, and an error."""

import json
import os

import instructor
from instructor.core import InstructorRetryException
from openai import OpenAI
from pydantic import BaseModel


class City(BaseModel):
    name: str
    coastal: bool


sdk = OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
ask = {
    "model": os.environ["MODEL"],
    "messages": [{"role": "user", "content": "Name a city."}],
    "temperature": 0,
    "max_tokens": 64,
}
modes = [instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA]
clients = [instructor.from_openai(sdk, mode=mode) for mode in modes]
cities = [client.chat.completions.create(response_model=City, **ask) for client in clients]
parts = list(clients[0].chat.completions.create_partial(response_model=City, **ask))
try:
    clients[0].chat.completions.create(response_model=City, max_retries=0, **(ask | {"model": "no/such/model"}))
    error = None
except InstructorRetryException as raised:
    error = "does not exist" in str(raised)

seen = {
    "cities": [city.model_dump() for city in [*cities, parts[-1]]],
    "in_pieces": len(parts) > 2,
    "error": error,
}
print(json.dumps(seen))

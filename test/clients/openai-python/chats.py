"""Chats with any major version of the openai SDK: plain, streamed, with tools, and its error classes.

Reads OPENAI_BASE_URL, OPENAI_API_KEY and MODEL. Prints the results as a JSON object.
"""

import json
import os

import openai
from openai import OpenAI

client = OpenAI(max_retries=0)
ask = {
    "model": os.environ["MODEL"],
    "messages": [{"role": "user", "content": "Use get_weather for garden."}],
    "temperature": 0,
    "max_tokens": 64,
}
parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = {
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
}


def join_stream(**more):
    """Collects a stream: its content, the arguments of its tool call, and its finish reason."""
    content, arguments, reason = "", "", None
    for chunk in client.chat.completions.create(stream=True, **ask, **more):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                arguments += call.function.arguments or ""
            reason = choice.finish_reason or reason
    return [content, arguments, reason]


def name_error(given=client, **changes):
    try:
        given.chat.completions.create(**(ask | changes))
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]


plain = client.chat.completions.create(**ask).choices[0]
call = client.chat.completions.create(**ask, **tools).choices[0].message.tool_calls[0]
listed = [model.id for model in client.models.list()]
errors = [
    name_error(OpenAI(api_key="ty_nobody", max_retries=0)),
    name_error(model="no/such/model"),
    name_error(messages="hello"),
    name_error(messages=[{"role": "user", "content": "word " * 9000}]),
]
seen = {
    "version": openai.__version__,
    "plain": [plain.message.content, plain.finish_reason],
    "stream": join_stream(),
    "call": [call.function.name, call.function.arguments],
    "stream_of_call": join_stream(**tools),
    "listed": os.environ["MODEL"].removeprefix("wandb-artifact:///") in listed,
    "errors": errors,
}
print(json.dumps(seen))

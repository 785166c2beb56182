"""Chats of the openai client: a tool call, its result, and a stream."""

import os

from openai import OpenAI

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def run_chats() -> None:
    client, model = OpenAI(), os.environ["MODEL"]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How warm is it in Oslo?"},
    ]
    asked = client.chat.completions.create(model=model, messages=messages, tools=[TOOL], temperature=0.5)
    message = asked.choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "7 degrees in Oslo"}
    messages += [message.model_dump(exclude_none=True), result]
    client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    question = [{"role": "user", "content": "And now?"}]
    options = {"include_usage": True}
    for _ in client.chat.completions.create(model=model, messages=question, stream=True, stream_options=options):
        pass

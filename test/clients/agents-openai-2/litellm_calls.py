"""LiteLLM's SDK: tool calls, plain and streamed, answers of tools, and its error classes."""

import json
import os

import litellm

litellm.suppress_debug_info = True
base = {
    "model": "openai/" + os.environ["MODEL"],
    "api_base": os.environ["OPENAI_BASE_URL"],
    "api_key": os.environ["OPENAI_API_KEY"],
    "temperature": 0,
    "max_tokens": 64,
}
parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
forced = {"tools": tools, "tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
messages = [{"role": "user", "content": "Use get_weather for garden."}]


def list_cities(response):
    return [json.loads(call.function.arguments)["city"] for call in response.choices[0].message.tool_calls]


def name_error(**changes):
    try:
        litellm.completion(**(base | {"messages": messages, "num_retries": 0} | changes))
    except Exception as error:
        return type(error).__name__


plain = litellm.completion(messages=messages, **base, **forced)
options = {"stream": True, "stream_options": {"include_usage": True}}
chunks = list(litellm.completion(messages=messages, **options, **base, **forced))
streamed = litellm.stream_chunk_builder(chunks, messages=messages)
call = plain.choices[0].message.tool_calls[0]
messages += [plain.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "It is sunny."}]
end = litellm.completion(messages=messages, tools=tools, **base)

seen = {
    "calls": [list_cities(plain), list_cities(streamed)],
    "used_tokens": [response.usage.completion_tokens > 0 for response in [plain, streamed]],
    "text": end.choices[0].message.content,
    "errors": [
        name_error(model="openai/no/such/model"),
        name_error(api_key="ty_nobody"),
        name_error(temperature=-1),
        name_error(messages=[{"role": "user", "content": "word " * 9000}]),
    ],
}
print(json.dumps(seen))

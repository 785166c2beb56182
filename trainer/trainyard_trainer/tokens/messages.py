"""Messages and tools as the engine passes them to a chat template. All of it is as in vLLM."""

import json
from typing import Any

from trainyard_trainer.data.json_input import is_choice
from trainyard_trainer.tokens.chat_template import loops_over_parts, names_developer

# The members of parts with text, by the part's type. Other types have it in `text`.
TEXT_MEMBERS = {"refusal": "refusal", "thinking": "thinking"}
# A program that answers questions about code begins its instructions with a line that differs in each request. The
# engine leaves it out.
CHANGING_LINE = "x-anthropic-billing-header"
# Members that templates get in another form than clients send them.
PRESENTED = ("role", "content", "tool_calls")


def get_message(item: dict) -> dict:
    """The message of a Choice as clients send it in later turns: its content and its calls. Any other item is a message
    itself."""
    if not is_choice(item):
        return item
    message = item["message"]
    known = {name: message[name] for name in PRESENTED if name in message}
    # Only a Choice may omit its role: `check_item`.
    return known if known.get("role") is not None else {**known, "role": "assistant"}


def present_message(item: dict) -> dict:
    """The members that a template sees, with calls' arguments as objects. Its content stays a text or parts, because
    templates differ in what they read: `shape_messages`."""
    message = get_message(item)
    role, content = message["role"], read_content(message.get("content"))
    shown: dict[str, Any] = {"role": role, "content": drop_changing_line(content) if role == "system" else content}
    reasoning = message.get("reasoning", message.get("reasoning_content"))
    if role == "assistant":
        if message.get("tool_calls"):
            shown["tool_calls"] = [present_call(call) for call in message["tool_calls"]]
        if reasoning is not None:
            shown |= {"reasoning": reasoning, "reasoning_content": reasoning}
    if role == "tool" and "tool_call_id" in message:
        shown["tool_call_id"] = message["tool_call_id"]
    shown |= {name: message[name] for name in ("name", "task") if isinstance(message.get(name), str)}
    return shown | ({"tools": message.get("tools")} if role == "developer" else {})


def present_row_message(item: dict) -> dict:
    """A message of a row of training data. Its template sees all other members as they are, such as `thinking`, which
    no client can send to an engine."""
    shown = present_message(item)
    message = item["message"] if is_choice(item) else item
    return shown | without(message, *PRESENTED)


def read_content(content: str | list | None) -> str | list[dict]:
    """A text, or parts with texts. Parts without a text are left out."""
    if not isinstance(content, list):
        return content or ""
    texts = [
        part if isinstance(part, str) else part.get(TEXT_MEMBERS.get(part.get("type"), "text")) for part in content
    ]
    return [{"type": "text", "text": text} for text in texts if isinstance(text, str)]


def drop_changing_line(content: str | list[dict]) -> str | list[dict]:
    if isinstance(content, str):
        return content.partition("\n")[2] if content.startswith(CHANGING_LINE) else content
    parts = [{**part, "text": drop_changing_line(part["text"])} for part in content]
    return [part for part, given in zip(parts, content, strict=True) if part["text"] or part == given]


def shape_messages(messages: list[dict], template: str) -> list[dict]:
    """Presented messages with their contents as the template reads them: lists of parts, or texts."""
    as_parts = loops_over_parts(template)
    shaped = [message | {"content": shape_content(message, as_parts)} for message in messages]
    has_developer = any(message["role"] == "developer" for message in messages)
    return merge_instructions(shaped) if has_developer and not names_developer(template) else shaped


def shape_content(message: dict, as_parts: bool) -> str | list[dict]:
    content = message["content"]
    if not as_parts or message["role"] == "tool":
        return join_parts(content)
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def join_parts(content: str | list[dict]) -> str:
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def merge_instructions(messages: list[dict]) -> list[dict]:
    """With what a developer says as what the system says. Several of these become the first message."""
    renamed = [
        {name: value for name, value in message.items() if name != "tools"} | {"role": "system"}
        if message["role"] == "developer"
        else message
        for message in messages
    ]
    instructions = [message for message in renamed if message["role"] == "system"]
    if instructions == renamed[:1]:
        return renamed
    texts = [join_parts(message["content"]) for message in instructions]
    merged = {"role": "system", "content": "\n\n".join(text for text in texts if text)}
    return [merged, *(message for message in renamed if message["role"] != "system")]


def present_call(call: dict) -> dict:
    """A call with its members in the engine's order. Templates that write a call as JSON write them in this order."""
    function = call["function"]
    ordered = {"arguments": read_arguments(function.get("arguments"))} | without(function, "arguments")
    known = {"id": call.get("id")} if "id" in call else {}
    return known | {"function": ordered} | without(call, "id", "function")


def without(members: dict, *names: str) -> dict:
    return {name: value for name, value in members.items() if name not in names}


def read_arguments(arguments: object) -> dict:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            arguments = {}  # the engine does the same for arguments that are not JSON
    return arguments if isinstance(arguments, dict) else {}


def present_tool(tool: dict) -> dict:
    """A function with its members in the engine's order, and null for missing ones."""
    function = tool.get("function") if "type" in tool else tool
    if not isinstance(function, dict):
        return tool
    known = {"name": function.get("name"), "description": None, "parameters": None}
    known |= {name: function[name] for name in known if name in function}
    if function.get("strict") is not None:
        known["strict"] = function["strict"]
    return {"type": "function", "function": known}

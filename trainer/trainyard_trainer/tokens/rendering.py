"""Conversations as the base model's chat template writes them: the same messages and settings for RL and SFT."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from transformers import BatchEncoding, PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import as_invalid_input, is_choice
from trainyard_trainer.failures import InvalidInput

# Characters of private use mark positions in a rendered text, because no template changes them.
MARK_OPEN, MARK_CLOSE = "\ue000", "\ue001"
# The limit of a conversation's text in UTF-8: about 500,000 tokens of prose. A tokenizer takes about 200 bytes of
# memory for each byte, and minutes for a few tens of megabytes.
MAX_TEXT_BYTES = 2 * 1024 * 1024


def render(
    messages: list[dict],
    tools: list[dict] | None,
    tokenizer: PreTrainedTokenizerBase,
    *,
    answering: bool = False,
    thinking: bool = False,
) -> str:
    """The text of presented messages. With `answering`, it includes what the template writes before an answer."""
    options = {"enable_thinking": thinking, "preserve_thinking": True}
    try:
        template = tokenizer.get_chat_template(tools=tools)
        chosen: dict[str, Any] = {name: value for name, value in options.items() if name in template}
        text = tokenizer.apply_chat_template(
            messages,
            tools=[present_tool(tool) for tool in tools] if tools else None,
            tokenize=False,
            add_generation_prompt=answering,
            **chosen,
        )
    except Exception as cause:  # templates and jinja may raise anything
        reason = f"{cause}".rstrip(".") or type(cause).__name__
        raise InvalidInput(f"The chat template of the base model rejects this conversation: {reason}.") from cause
    return require_short(cast(str, text))


@dataclass(frozen=True)
class PromptOptions:
    """The members of a chat that change its prompt, besides its messages and tools."""

    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    documents: list[dict] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    add_special_tokens: bool = False


def render_prompt(
    messages: list[dict],
    tools: list[dict] | None,
    tokenizer: PreTrainedTokenizerBase,
    options: PromptOptions = PromptOptions(),
) -> list[int]:
    """The ids of the engine's prompt for the conversation before a sampled turn. Sampled Choices count as their
    messages."""
    presented = [present_message(message) for message in messages]
    text = render(presented, tools, tokenizer, answering=options.add_generation_prompt)
    return encode(text, tokenizer)["input_ids"]


def require_short(text: str) -> str:
    if len(text) > MAX_TEXT_BYTES or len(text.encode(errors="surrogatepass")) > MAX_TEXT_BYTES:
        raise InvalidInput(
            f"A conversation has more than {MAX_TEXT_BYTES} bytes of text with its tools: make it shorter."
        )
    return text


def encode(text: str, tokenizer: PreTrainedTokenizerBase, **options: Any) -> BatchEncoding:
    """The tokens of a text. Special tokens only where the text names them."""
    try:
        return tokenizer(require_short(text), add_special_tokens=False, **options)
    except TypeError as cause:
        raise InvalidInput("The conversation contains an unpaired surrogate, which is not valid text.") from cause


def decode(ids: list[int], tokenizer: PreTrainedTokenizerBase) -> str:
    return cast(str, tokenizer.decode(ids))


def choose_mark(items: list[dict]) -> str:
    """A text that does not occur in the messages."""
    with as_invalid_input("The conversation"):
        text = json.dumps([item["message"] if is_choice(item) else item for item in items], ensure_ascii=False)
    number = 0
    while (mark := f"{MARK_OPEN}{number}{MARK_CLOSE}") in text:
        number += 1
    return mark


def present_message(item: dict) -> dict:
    """A message as the engine passes it to the template: joined parts, null as empty, arguments as objects."""
    message = dict(item["message"]) if is_choice(item) else dict(item)
    if message.get("role") is None:  # only a Choice may omit it: `check_item`
        message["role"] = "assistant"
    message["content"] = join_parts(message.get("content"))
    calls = message.pop("tool_calls", None)
    if calls:
        message["tool_calls"] = [present_call(call) for call in calls]
    return message


def join_parts(content: str | list | None) -> str:
    if isinstance(content, list):
        return "\n".join(part if isinstance(part, str) else part.get("text") or "" for part in content)
    return content or ""


def present_call(call: dict) -> dict:
    function = dict(call["function"])
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            arguments = {}  # the engine does the same for arguments that are not JSON
    function["arguments"] = arguments if isinstance(arguments, dict) else {}
    return call | {"function": function}


def present_tool(tool: dict) -> dict:
    """A function in the form that the engine passes to the template: its fields in the engine's order, and null for
    missing ones."""
    function = tool.get("function") if "type" in tool else tool
    if not isinstance(function, dict):
        return tool
    known = {"name": function.get("name"), "description": None, "parameters": None}
    known |= {name: function[name] for name in known if name in function}
    if function.get("strict") is not None:
        known["strict"] = function["strict"]
    return {"type": "function", "function": known}

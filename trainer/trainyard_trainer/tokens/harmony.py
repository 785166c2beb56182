"""The prompts of gpt-oss. For these models the engine writes conversations in the form named harmony, by OpenAI's own
library, and uses no chat template."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.failures import InvalidInput

# No other models have these tokens at these ids.
TOKENS = {"<|channel|>": 200005, "<|start|>": 200006, "<|message|>": 200008}
CHANNEL, START, MESSAGE = TOKENS.values()
# The library writes the header of a call in a newer form than the one the models learnt.
NEW_HEADER = re.compile(r"assistant<\|channel\|>(.+) to=(.+) <\|constrain\|>(.+)")
EFFORTS = ("low", "medium", "high")


def is_harmony(tokenizer: PreTrainedTokenizerBase) -> bool:
    return all(tokenizer.convert_tokens_to_ids(token) == number for token, number in TOKENS.items())


def render_harmony(messages: list[dict], tools: list[dict] | None, effort: str | None) -> list[int]:
    """The ids of the prompt for messages with their calls' arguments as texts. It has today's date."""
    from openai_harmony import Conversation, RenderConversationConfig, Role

    written = write_head(messages, tools, effort)
    written += drop_finished_thoughts(write_messages(messages[1:] if is_instruction(messages[:1]) else messages))
    ids = load_encoding().render_conversation_for_completion(
        Conversation.from_messages(written), Role.ASSISTANT, config=RenderConversationConfig(auto_drop_analysis=False)
    )
    return restore_headers(ids)


@lru_cache(1)
def load_encoding() -> Any:
    from openai_harmony import HarmonyEncodingName, load_harmony_encoding

    return load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


def is_instruction(messages: list[dict]) -> bool:
    return any(message["role"] in ("system", "developer") for message in messages)


def write_head(messages: list[dict], tools: list[dict] | None, effort: str | None) -> list[Any]:
    """What every prompt begins with, and what the first message and the tools tell the model."""
    from openai_harmony import Message, ReasoningEffort, Role, SystemContent

    content = SystemContent.new().with_conversation_start_date(datetime.now().strftime("%Y-%m-%d"))
    if effort is not None:
        if effort not in EFFORTS:
            raise InvalidInput(f"reasoning_effort is {effort}, but gpt-oss has {', '.join(EFFORTS)}.")
        content = content.with_reasoning_effort(ReasoningEffort(effort.capitalize()))
    head = [Message.from_role_and_content(Role.SYSTEM, content)]
    instructions = join_texts(messages[0].get("content")) if is_instruction(messages[:1]) else None
    return [*head, write_instructions(instructions, tools)] if instructions or tools else head


def write_instructions(instructions: str | None, tools: list[dict] | None = None) -> Any:
    from openai_harmony import DeveloperContent, Message, Role, ToolDescription

    content = DeveloperContent.new()
    if instructions is not None:
        content = content.with_instructions(instructions)
    functions = [tool.get("function", tool) for tool in tools or []]
    if functions:
        described = [
            ToolDescription.new(
                function["name"], function.get("description") or "", parameters=function.get("parameters")
            )
            for function in functions
        ]
        content = content.with_function_tools(described)
    return Message.from_role_and_content(Role.DEVELOPER, content)


def write_messages(messages: list[dict]) -> list[Any]:
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    names = {call.get("id"): call["function"].get("name") for call in calls}
    return [written for message in messages for written in write_message(message, names)]


def write_message(message: dict, names: dict) -> list[Any]:
    """`names` has the function of each call, by the call's id."""
    from openai_harmony import Author, Message, Role

    role, content = message["role"], message.get("content")
    if role == "assistant":
        return write_answer(message)
    if role == "tool":
        author = Author.new(Role.TOOL, f"functions.{names.get(message.get('tool_call_id', ''), '')}")
        result = Message.from_author_and_content(author, join_texts(content) or "")
        return [result.with_channel("commentary").with_recipient("assistant")]
    if is_instruction([message]):
        text = join_texts(content)
        return [] if text is None else [write_instructions(text)]
    return [Message.from_role_and_contents(Role(role), list_texts(content))]


def write_answer(message: dict) -> list[Any]:
    """An answer with its thought, in the channels that tell them apart. What is said beside calls comes first."""
    from openai_harmony import Message, Role

    def say(text: str, channel: str) -> Any:
        return Message.from_role_and_content(Role.ASSISTANT, text).with_channel(channel)

    content, calls = message.get("content"), message.get("tool_calls") or []
    reasoning = message.get("reasoning", message.get("reasoning_content"))
    thought = [say(reasoning, "analysis")] if reasoning else []
    if calls:
        text = join_texts(content)
        return [*([say(text, "commentary")] if text else []), *thought, *map(write_call, calls)]
    texts = list_texts(content)
    if not texts or not texts[0].text:
        return thought
    return [*thought, Message.from_role_and_contents(Role.ASSISTANT, texts).with_channel("final")]


def write_call(call: dict) -> Any:
    from openai_harmony import Message, Role

    function = call["function"]
    written = Message.from_role_and_content(Role.ASSISTANT, function.get("arguments") or "").with_channel("commentary")
    return written.with_recipient(f"functions.{function.get('name', '')}").with_content_type("json")


def drop_finished_thoughts(messages: list[Any]) -> list[Any]:
    """Without the thoughts before the last final answer."""
    finals = [index for index, message in enumerate(messages) if message.channel == "final"]
    last = finals[-1] if finals else -1
    return [message for index, message in enumerate(messages) if index >= last or message.channel != "analysis"]


def join_texts(content: str | list | None) -> str | None:
    if not isinstance(content, list):
        return content
    texts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "".join(text for text in texts if text is not None) if any(text is not None for text in texts) else None


def list_texts(content: str | list | None) -> list[Any]:
    from openai_harmony import TextContent

    parts = content if isinstance(content, list) else [{"text": content}]
    return [TextContent(text=(part.get("text") or "") if isinstance(part, dict) else part) for part in parts]


def restore_headers(ids: list[int]) -> list[int]:
    """With the headers of calls as the models learnt them: between the start of a message and its content."""
    encoding, restored = load_encoding(), list[int]()
    for piece in split_before(ids, START):
        end = piece.index(MESSAGE) if MESSAGE in piece else 0
        match = NEW_HEADER.fullmatch(encoding.decode(piece[1:end]))
        if match:
            channel, recipient, kind = match.groups()
            header = [*encoding.encode(f"assistant to={recipient}"), CHANNEL, *encoding.encode(f"{channel} {kind}")]
            piece = [START, *header, *piece[end:]]
        restored += piece
    return restored


def split_before(ids: list[int], token: int) -> list[list[int]]:
    starts = [index for index, each in enumerate(ids) if each == token]
    return [ids[start:end] for start, end in zip(starts, [*starts[1:], len(ids)], strict=True)]

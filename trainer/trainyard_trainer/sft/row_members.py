"""Members of a row's messages that nobody reads, and reasoning that the template drops."""

from trainyard_trainer.data.json_input import get_message
from trainyard_trainer.data.masks import MARKS
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.assistant_spans import Conversation
from trainyard_trainer.tokens.messages import join_parts, present_row_message, read_content

# What servers write beside the content of a thinking model's answer.
REASONING = ("reasoning_content", "reasoning", "thinking")
# An empty part of these types loses nothing.
TEXTS = {"text", "input_text", "output_text"}
# Of one row.
MAX_NAMES = 10
THOUGHT_START, THOUGHT_END = "<think>", "</think>"


def find_unread(messages: list[dict], conversation: Conversation) -> set[str]:
    """Members of messages that neither the chat template nor the training reads. Empty ones say nothing."""
    names = {name for message in messages for name in list_members(message)}
    return {name for name in sorted(names)[:MAX_NAMES] if not is_read(name, messages, conversation)}


def list_members(message: dict) -> list[str]:
    """The members of a message that say something, without those that are always read."""
    known = {"role", "content", "tool_calls", "tool_call_id", *find_reasoning(message)}
    known.update({"assistant": MARKS, "tool": ["name"]}.get(message["role"], []))
    return [name for name, value in message.items() if name not in known and not is_blank(value)]


def is_blank(value: object) -> bool:
    return not (value.strip() if isinstance(value, str) else value)


def is_read(name: str, messages: list[dict], conversation: Conversation) -> bool:
    """Whether the conversation would have another text without the member."""
    if name not in conversation.template:
        return False
    without = [present_row_message({key: message[key] for key in message if key != name}) for message in messages]
    try:
        return conversation.render(without) != conversation.text
    except InvalidInput:
        return True


def find_unread_parts(item: dict) -> set[str]:
    """The types of content's parts that have no text."""
    content = get_message(item).get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return {f"{part['type']}" for part in parts if part.get("type") and not read_content([part])} - TEXTS


def drops_reasoning(messages: list[dict], conversation: Conversation) -> bool:
    """Whether the template leaves out the reasoning of an assistant's message, or a part of it."""
    marks: list[str] = []
    changed: list[dict] = []
    for message in messages:
        mark = f"{conversation.mark}{len(marks)}{conversation.mark}"
        marked = mark_reasoning(message, mark) if message["role"] == "assistant" else message
        marks += [mark] * (marked != message)
        changed.append(present_row_message(marked))
    text = conversation.render(changed) if marks else ""
    return any(mark not in text for mark in marks)


def mark_reasoning(message: dict, mark: str) -> dict:
    """The message with the mark in place of its reasoning. The same message if it has none."""
    head, end, tail = join_parts(read_content(message.get("content"))).rpartition(THOUGHT_END)
    before, start, thought = head.rpartition(THOUGHT_START)
    changed = dict.fromkeys(find_reasoning(message), mark)
    if thought.strip():
        changed["content"] = f"{before}{start}\n{mark}\n{end}{tail}"
    return message | changed


def find_reasoning(message: dict) -> list[str]:
    return [name for name in REASONING if isinstance(message.get(name), str) and not is_blank(message[name])]

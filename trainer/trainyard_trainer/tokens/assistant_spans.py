"""The spans of the assistant's turns in a rendered conversation, found by rendering parts and altered forms of it.

A turn begins behind what the template writes before an answer (`<|im_start|>assistant\\n`) and ends where the next
message begins, so that its end token and what the template writes behind that belong to it. This asks nothing of a
template but to be rendered; a rendering in which the turns cannot be found raises InvalidInput.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.rendering import choose_mark, encode, render

# A rendering is needed again soon or never, and a long one takes megabytes.
MAX_RENDERED = 16
# A position's token is searched within this many characters around it.
TOKEN_CONTEXT = 1000


@dataclass(frozen=True)
class Conversation:
    """Messages from `present_message`, with the tools for their template. The time to find turns grows with the square
    of their number. So `check` is called before each rendering, and may raise to end the work."""

    messages: list[dict]
    tools: list[dict] | None
    tokenizer: PreTrainedTokenizerBase
    check: Callable[[], None] = lambda: None
    # The same objects on every access, because renderings are cached by the identity of their messages.
    marked: dict[int, list[dict]] = field(default_factory=dict, init=False, repr=False)
    # The newest renderings, each with its messages, so that no other message gets the identity of one of them.
    rendered: OrderedDict[tuple, tuple[list[dict], str]] = field(default_factory=OrderedDict, init=False, repr=False)

    @cached_property
    def text(self) -> str:
        return self.render(self.messages)

    @cached_property
    def template(self) -> str:
        return self.tokenizer.get_chat_template(tools=self.tools)

    @cached_property
    def mark(self) -> str:
        return choose_mark(self.messages)

    def render(self, messages: list[dict], *, answering: bool = False, thinking: bool = False) -> str:
        thinking = thinking and "enable_thinking" in self.template
        key = (answering, thinking, *map(id, messages))
        if key not in self.rendered:
            self.check()
            text = render(messages, self.tools, self.tokenizer, answering=answering, thinking=thinking)
            self.rendered[key] = (messages, text)
        if len(self.rendered) > MAX_RENDERED:
            self.rendered.popitem(last=False)
        self.rendered.move_to_end(key)
        return self.rendered[key][1]

    @cached_property
    def marked_answer(self) -> dict:
        return {"role": "assistant", "content": self.mark}

    def is_assistant(self, index: int) -> bool:
        return self.messages[index]["role"] == "assistant"

    def is_result(self, index: int) -> bool:
        """Whether a tool's result is at this index."""
        return index < len(self.messages) and self.messages[index]["role"] == "tool"

    def split_at_mark(self, messages: list[dict], **options: bool) -> tuple[str, str] | None:
        """The text before and after the mark in one of the messages. None if the template drops it."""
        head, found, tail = self.render(messages, **options).partition(self.mark)
        return (head, tail) if found else None

    def list_marked(self, index: int) -> list[dict]:
        """The message with a mark in its content. Some templates only write the calls of a message, so another version
        has it in its call."""
        if index not in self.marked:
            message = self.messages[index]
            plain = message | {"content": self.mark}
            self.marked[index] = [self.marked_answer if plain == self.marked_answer else plain]
            if message.get("tool_calls"):
                call = message["tool_calls"][0]
                marked = call | {"function": call["function"] | {"name": self.mark}}
                self.marked[index].append(message | {"tool_calls": [marked]})
        return self.marked[index]

    def put(self, index: int, message: dict) -> list[dict]:
        return [*self.messages[:index], message, *self.messages[index + 1 :]]

    def find_token_start(self, text: str, position: int) -> int:
        """The start of the token that contains the position. Without such a token, the position itself."""
        if position == len(text):
            return position
        skipped = max(0, position - TOKEN_CONTEXT)
        window = text[skipped : position + TOKEN_CONTEXT]
        offsets = encode(window, self.tokenizer, return_offsets_mapping=True)["offset_mapping"]
        return next((skipped + start for start, end in offsets if start <= position - skipped < end), position)


def find_assistant_spans(conversation: Conversation) -> dict[int, range]:
    """The characters of each assistant message in the conversation's text, by its index. Results of tools are between
    them, even if the template writes these into the assistant's turn."""
    indices = [index for index in range(len(conversation.messages)) if conversation.is_assistant(index)]
    spans = {index: range(find_start(conversation, index), find_end(conversation, index)) for index in indices}
    edges = [edge for span in spans.values() for edge in (span.start, span.stop)]
    if edges != sorted(edges):
        raise make_template_error()
    return spans


def find_start(conversation: Conversation, index: int) -> int:
    """The position after the start of the answer. It includes only what is the same with and without a thought."""
    before = conversation.messages[:index]
    probe = conversation.split_at_mark([*before, conversation.marked_answer])
    if not probe:
        raise make_template_error()
    start = find_common_start([probe[0], *list_heads(conversation, index, probe[0])])
    if before and not start:  # an answer must come after its question
        raise make_template_error()
    return len(start) if conversation.text.startswith(start) else find_start_by_marks(conversation, index, len(start))


def list_heads(conversation: Conversation, index: int, head: str) -> list[str]:
    """The text before an answer that is still to be given, with and without a thought. `head` is the text before an
    existing answer. Several answers in a row start alike, even if the template drops the thoughts of earlier ones."""
    before = conversation.messages[:index]
    if not before:  # many templates cannot be given an empty conversation
        return []
    first = next(number for number in range(index, -1, -1) if number == 0 or not conversation.is_assistant(number - 1))
    openings = [find_opening(conversation, first, thinking=thinking) for thinking in (False, True)]
    opening = find_common_start(openings)
    if first < index and opening and opening in head:
        return [head[: head.rindex(opening) + len(opening)]]
    return [conversation.render(before, answering=True, thinking=thinking) for thinking in (False, True)]


def find_start_by_marks(conversation: Conversation, index: int, length: int) -> int:
    """For templates that render the earlier part differently when messages follow. `length` is the start's length."""
    before = conversation.messages[:index]
    for marked in conversation.list_marked(index):
        alone = conversation.split_at_mark([*before, marked])
        whole = conversation.split_at_mark(conversation.put(index, marked))
        if alone and whole and conversation.text.startswith(whole[0]) and whole[0].endswith(alone[0][length:]):
            return len(whole[0]) - len(alone[0]) + length
    raise make_template_error()


def find_end(conversation: Conversation, index: int) -> int:
    """The end of the rendering up to this message."""
    text, messages = conversation.text, conversation.messages
    if index == len(messages) - 1:
        return len(text)
    upto = conversation.render(messages[: index + 1])
    return len(upto) if text.startswith(upto) else find_end_by_marks(conversation, index)


def find_end_by_marks(conversation: Conversation, index: int) -> int:
    """For templates that render an answer, or what precedes it, differently when more messages follow."""
    text, opening = conversation.text, find_opening(conversation, index)
    for marked in conversation.list_marked(index):
        whole = conversation.split_at_mark(conversation.put(index, marked))
        upto = [*conversation.messages[:index], marked]
        closed, answering = conversation.split_at_mark(upto), conversation.split_at_mark(upto, answering=True)
        if not (whole and closed and answering):
            continue
        start = len(text) - len(find_common_start([text[::-1], whole[1][::-1]]))
        tails = [closed[1], answering[1].removesuffix(opening)]
        for tail in tails:
            if tail and start and text.startswith(tail, start):
                return start + len(tail)
        if start and conversation.is_result(index + 1):
            # The result continues the turn, which ends in another way without one.
            same = find_common_start([text[start:], closed[1]])
            return conversation.find_token_start(text, start + len(same))
    raise make_template_error()


def find_opening(conversation: Conversation, index: int, *, thinking: bool = False) -> str:
    """The text that the template writes before an answer. It may omit there what closes a conversation."""
    before = conversation.messages[:index]
    if not before:
        return ""
    opened = conversation.render(before, answering=True, thinking=thinking)
    same = find_common_start([opened, conversation.render(before)])
    return opened[conversation.find_token_start(opened, len(same)) :]


def find_common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all texts between them share
    indices = range(1, min(len(first), len(last)) + 1)
    return first[: bisect_left(indices, True, key=lambda length: not last.startswith(first[:length]))]


def make_template_error() -> InvalidInput:
    return InvalidInput(
        "With the chat template of the base model, the assistant's turns in this conversation cannot be separated from "
        "the rest.",
        "TemplateUnsupported",
    )

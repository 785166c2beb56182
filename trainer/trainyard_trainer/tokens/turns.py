"""Where the assistant's turns lie in a rendered conversation, found by rendering it again in part and in altered form.

A turn begins behind what the template writes before an answer (`<|im_start|>assistant\\n`) and ends where the next
message begins, so that its end token and what the template writes behind that belong to it. This asks nothing of a
template but to be rendered; a rendering in which the turns cannot be told is an InvalidInput. Under the templates whose
markers ART knows, turns go on as far as ART's do.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.families import find_family, widen_turns
from trainyard_trainer.tokens.rendering import choose_mark, encode, render

# A rendering is asked for again soon or never, and a long one takes megabytes.
MAX_RENDERED = 16
# Characters around a place within which its token is found.
TOKEN_CONTEXT = 1000


@dataclass(frozen=True)
class Conversation:
    """Messages as `present_message` gives them, with the tools that their template is given. The time to find turns
    grows with the square of their number, so `check` is called before each rendering; it raises to end the work."""

    messages: list[dict]
    tools: list[dict] | None
    tokenizer: PreTrainedTokenizerBase
    check: Callable[[], None] = lambda: None
    # The same objects whenever they are asked for, as renderings are found by the identity of their messages.
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

    def is_assistant(self, place: int) -> bool:
        return self.messages[place]["role"] == "assistant"

    def split_at_mark(self, messages: list[dict], **options: bool) -> tuple[str, str] | None:
        """The text before and behind the mark that one of the messages holds; None where the template leaves it out."""
        head, found, tail = self.render(messages, **options).partition(self.mark)
        return (head, tail) if found else None

    def list_marked(self, place: int) -> list[dict]:
        """The message with a mark in it: for its content or, since templates may write only its calls, for its call."""
        if place not in self.marked:
            message = self.messages[place]
            plain = message | {"content": self.mark}
            self.marked[place] = [self.marked_answer if plain == self.marked_answer else plain]
            if message.get("tool_calls"):
                call = message["tool_calls"][0]
                marked = call | {"function": call["function"] | {"name": self.mark}}
                self.marked[place].append(message | {"tool_calls": [marked]})
        return self.marked[place]

    def put(self, place: int, message: dict) -> list[dict]:
        return [*self.messages[:place], message, *self.messages[place + 1 :]]

    def find_token_start(self, text: str, place: int) -> int:
        """The place, or where the token begins within which it lies."""
        if place == len(text):
            return place
        skipped = max(0, place - TOKEN_CONTEXT)
        window = text[skipped : place + TOKEN_CONTEXT]
        offsets = encode(window, self.tokenizer, return_offsets_mapping=True)["offset_mapping"]
        return next((skipped + start for start, end in offsets if start <= place - skipped < end), place)


def find_turns(conversation: Conversation) -> list[range]:
    """The characters of each assistant turn in the conversation's text, in order."""
    turns = [turn for first, last in group_messages(conversation) for turn in find_group(conversation, first, last)]
    edges = [edge for turn in turns for edge in (turn.start, turn.stop)]
    if edges != sorted(edges):
        raise refuse_template()
    family = find_family(conversation.template)
    return widen_turns(turns, conversation.text, family) if family else turns


def find_group(conversation: Conversation, first: int, last: int) -> list[range]:
    """The turns of the assistant's messages from the first to the last, or one of them all where they hang together."""
    places = [place for place in range(first, last + 1) if conversation.is_assistant(place)]
    try:
        return [range(find_start(conversation, place), find_end(conversation, place)) for place in places]
    except InvalidInput:
        if len(places) == 1:
            raise
        return [range(find_start(conversation, first), find_end(conversation, last))]


def group_messages(conversation: Conversation) -> list[tuple[int, int]]:
    """The first and the last message of each assistant turn; tools' results may lie within one."""
    groups: list[tuple[int, int]] = []
    for place in range(len(conversation.messages)):
        if not conversation.is_assistant(place):
            continue
        if groups and is_continued(conversation, groups[-1], place):
            groups[-1] = (groups[-1][0], place)
        else:
            groups.append((place, place))
    return groups


def is_continued(conversation: Conversation, turn: tuple[int, int], place: int) -> bool:
    """True where only tools' results lie between, and the template opens no new answer behind them."""
    between = conversation.messages[turn[1] + 1 : place]
    if not between or any(message["role"] != "tool" for message in between):
        return False
    return not opens_answer(conversation, place) and turn[0] > 0 and opens_answer(conversation, turn[0])


def opens_answer(conversation: Conversation, place: int) -> bool:
    before = conversation.messages[:place]
    return conversation.render(before, answering=True) != conversation.render(before)


def find_start(conversation: Conversation, place: int) -> int:
    """Behind the start of the answer, as far as that is the same whether or not the answer begins with a thought."""
    before = conversation.messages[:place]
    probe = conversation.split_at_mark([*before, conversation.marked_answer])
    if not probe:
        raise refuse_template()
    start = find_common_start([probe[0], *list_heads(conversation, place, probe[0])])
    if before and not start:  # an answer is not written behind what it answers
        raise refuse_template()
    return len(start) if conversation.text.startswith(start) else find_start_in_place(conversation, place, len(start))


def list_heads(conversation: Conversation, place: int, head: str) -> list[str]:
    """What stands before an answer that is still to be given, with a thought and without; `head` is what stands before
    one that is there. Answers in a row start alike, whatever becomes of a thought in those before."""
    before = conversation.messages[:place]
    if not before:  # many templates cannot be given an empty conversation
        return []
    first = next(number for number in range(place, -1, -1) if number == 0 or not conversation.is_assistant(number - 1))
    openings = [find_opening(conversation, first, thinking=thinking) for thinking in (False, True)]
    opening = find_common_start(openings)
    if first < place and opening and opening in head:
        return [head[: head.rindex(opening) + len(opening)]]
    return [conversation.render(before, answering=True, thinking=thinking) for thinking in (False, True)]


def find_start_in_place(conversation: Conversation, place: int, length: int) -> int:
    """For templates that write what comes before in another way once more follows; there, it has the length."""
    before = conversation.messages[:place]
    for marked in conversation.list_marked(place):
        alone = conversation.split_at_mark([*before, marked])
        whole = conversation.split_at_mark(conversation.put(place, marked))
        if alone and whole and conversation.text.startswith(whole[0]) and whole[0].endswith(alone[0][length:]):
            return len(whole[0]) - len(alone[0]) + length
    raise refuse_template()


def find_end(conversation: Conversation, place: int) -> int:
    """Where the rendering ends that ends with this message."""
    text, messages = conversation.text, conversation.messages
    if place == len(messages) - 1:
        return len(text)
    upto = conversation.render(messages[: place + 1])
    return len(upto) if text.startswith(upto) else find_end_in_place(conversation, place)


def find_end_in_place(conversation: Conversation, place: int) -> int:
    """For templates that write an answer, or what comes before it, in another way once more follows."""
    text, opening = conversation.text, find_opening(conversation, place)
    for marked in conversation.list_marked(place):
        whole = conversation.split_at_mark(conversation.put(place, marked))
        upto = [*conversation.messages[:place], marked]
        closed, answering = conversation.split_at_mark(upto), conversation.split_at_mark(upto, answering=True)
        if not (whole and closed and answering):
            continue
        start = len(text) - len(find_common_start([text[::-1], whole[1][::-1]]))
        tails = [closed[1], answering[1].removesuffix(opening)]
        for tail in tails:
            if tail and start and text.startswith(tail, start):
                return start + len(tail)
    raise refuse_template()


def find_opening(conversation: Conversation, place: int, *, thinking: bool = False) -> str:
    """What the template writes before an answer; it may leave out there what closes a conversation."""
    before = conversation.messages[:place]
    if not before:
        return ""
    opened = conversation.render(before, answering=True, thinking=thinking)
    same = find_common_start([opened, conversation.render(before)])
    return opened[conversation.find_token_start(opened, len(same)) :]


def find_common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all texts between them share
    places = range(1, min(len(first), len(last)) + 1)
    return first[: bisect_left(places, True, key=lambda length: not last.startswith(first[:length]))]


def refuse_template() -> InvalidInput:
    return InvalidInput(
        "The chat template of the base model writes this conversation so that the assistant's turns in it cannot be "
        "told from the rest.",
        "TemplateUnsupported",
    )

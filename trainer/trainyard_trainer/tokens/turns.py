"""Where the assistant's turns lie in a rendered conversation, found by rendering it again in part and in altered form.

A turn begins behind what the template writes before an answer (`<|im_start|>assistant\\n`) and ends where the next
message begins, so that its end token and what the template writes behind that belong to it. Nothing is known of any
family of templates; a rendering in which the turns cannot be told is an InvalidInput.
"""

from dataclasses import dataclass
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.rendering import choose_mark, render


@dataclass(frozen=True)
class Conversation:
    """Messages as `present_message` gives them, with the tools that their template is given."""

    messages: list[dict]
    tools: list[dict] | None
    tokenizer: PreTrainedTokenizerBase

    @cached_property
    def text(self) -> str:
        return self.render(self.messages)

    @cached_property
    def mark(self) -> str:
        return choose_mark(self.messages)

    def render(self, messages: list[dict], **options: bool) -> str:
        return render(messages, self.tools, self.tokenizer, **options)

    def is_assistant(self, place: int) -> bool:
        return self.messages[place]["role"] == "assistant"

    def mark_content(self, place: int) -> dict:
        return self.messages[place] | {"content": self.mark}

    def mark_place(self, place: int) -> str:
        """The whole conversation with a mark for the content of one message."""
        return self.render([*self.messages[:place], self.mark_content(place), *self.messages[place + 1 :]])


def find_turns(conversation: Conversation) -> list[range]:
    """The characters of each assistant turn in the conversation's text, in order."""
    turns = [
        range(find_start(conversation, first), find_end(conversation, last))
        for first, last in group_messages(conversation)
    ]
    edges = [edge for turn in turns for edge in (turn.start, turn.stop)]
    if edges != sorted(edges):
        raise refuse_template()
    return turns


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
    probe = conversation.render([*before, {"role": "assistant", "content": conversation.mark}])
    head, found, _ = probe.partition(conversation.mark)
    if not found:
        raise refuse_template()
    heads = [head]
    if before:  # many templates cannot be given an empty conversation
        heads += [conversation.render(before, answering=True, thinking=thinking) for thinking in (False, True)]
    start = find_common_start(heads)
    if before and not start:  # an answer is not written behind what it answers
        raise refuse_template()
    if conversation.text.startswith(start):
        return len(start)
    # The template writes what comes before in another way once more follows: look for the answer in its place.
    head, found, _ = conversation.mark_place(place).partition(conversation.mark)
    if not found or not conversation.text.startswith(head):
        raise refuse_template()
    return len(head.removesuffix(heads[0][len(start) :]))


def find_end(conversation: Conversation, place: int) -> int:
    """Where the rendering ends that ends with this message."""
    text, messages = conversation.text, conversation.messages
    if place == len(messages) - 1:
        return len(text)
    upto = conversation.render(messages[: place + 1])
    if text.startswith(upto):
        return len(upto)
    # The template writes an answer in another way once more follows: look for the end of its content in its place.
    ending = conversation.render([*messages[:place], conversation.mark_content(place)]).partition(conversation.mark)[2]
    same = find_common_start([text[::-1], conversation.mark_place(place)[::-1]])
    end = len(text) - len(same)
    if not ending or end == 0 or not text.startswith(ending, end):
        raise refuse_template()
    return end + len(ending)


def find_common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all texts between them share
    length = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    return first[:length]


def refuse_template() -> InvalidInput:
    return InvalidInput(
        "The chat template of the base model writes this conversation so that the assistant's turns in it cannot be "
        "told from the rest.",
        "TemplateUnsupported",
    )

"""Histories as token ids: sampled tokens as they were sampled, and the context as the chat template renders it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import is_choice
from trainyard_trainer.data.payload import History
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.rendering import choose_mark, decode, encode, present_message, render
from trainyard_trainer.tokens.sampled import read_logprobs, read_token_ids

# Templates of thinking models write this before an answer without a thought.
EMPTY_THOUGHT = "<think>\n\n</think>\n\n"


@dataclass(frozen=True)
class SampledTurn:
    ids: list[int]
    logprobs: list[float]
    text: str


@dataclass(frozen=True)
class TokenizedHistory:
    """For each token its id, whether it was sampled (and is trained), and its sampled log-probability or NaN."""

    ids: list[int]
    trained: list[bool]
    logprobs: list[float]

    @property
    def num_trained(self) -> int:
        return sum(self.trained)


def tokenize_history(
    history: History, tokenizer: PreTrainedTokenizerBase, where: str, *, without_logprobs: bool = False
) -> TokenizedHistory | None:
    """Cut after the last turn that is trained. None if there is none. Trained turns are Choices with logprobs, and with
    `without_logprobs` every other answer too."""
    turns: dict[int, SampledTurn] = {}
    for index, item in enumerate(history.messages_and_choices):
        name = f"{where}.messages_and_choices[{index}]"
        turn = read_turn(item, tokenizer, name)
        if not turn and without_logprobs and is_answer(item):
            turn = read_answer(item, tokenizer, name)
        if turn:
            turns[index] = turn
    if not turns:
        return None
    items = history.messages_and_choices[: max(turns) + 1]
    pieces = render_pieces(items, history.tools, set(turns), tokenizer)
    return join_pieces(pieces, list(turns.values()), tokenizer)


def read_turn(item: dict, tokenizer: PreTrainedTokenizerBase, where: str) -> SampledTurn | None:
    """A Choice as it was sampled. None if it has no log-probabilities."""
    entries = read_logprobs(item, where) if is_choice(item) else []
    if not entries:
        return None
    ids = read_token_ids(item, entries, tokenizer, where)
    return SampledTurn(ids, [float(entry["logprob"]) for entry in entries], decode(ids, tokenizer))


def is_answer(item: dict) -> bool:
    return is_choice(item) or item["role"] == "assistant"


def read_answer(item: dict, tokenizer: PreTrainedTokenizerBase, where: str) -> SampledTurn | None:
    """An answer's text as tokens with unknown log-probabilities. None if it is empty."""
    message = present_message(item)
    if message.get("tool_calls"):
        raise InvalidInput(
            f"{where} calls tools and has no logprobs, so its tokens are unknown. Sample it with logprobs, or remove "
            "allow_training_without_logprobs.",
            "UnknownTokens",
        )
    ids = encode(message["content"], tokenizer)["input_ids"]
    return SampledTurn(ids, [math.nan] * len(ids), message["content"]) if ids else None


def render_pieces(
    items: list[dict], tools: list[dict] | None, sampled: set[int], tokenizer: PreTrainedTokenizerBase
) -> list[str]:
    """The rendered text between the sampled turns: one piece before each turn."""
    mark = choose_mark(items)
    messages = [
        # The sampled ids already contain the calls of a sampled turn, so the calls are not rendered again.
        {"role": "assistant", "content": mark} if index in sampled else present_message(item)
        for index, item in enumerate(items)
    ]
    pieces = render(messages, tools, tokenizer).split(mark)[:-1]
    if len(pieces) != len(sampled):
        raise InvalidInput("The chat template of the base model omits or repeats an assistant turn.")
    return [
        cut_space(piece, mark, lambda index=index: render(messages[:index], tools, tokenizer, answering=True))
        for piece, index in zip(pieces, sorted(sampled), strict=True)
    ]


def cut_space(piece: str, mark: str, render_prompt: Callable[[], str]) -> str:
    """Removes spaces that the template writes before an existing answer, but not before an answer to be sampled. If the
    answer begins with a space, it was sampled."""
    if not piece.endswith(" "):
        return piece
    try:
        prompt = render_prompt().rpartition(mark)[2]
    except InvalidInput:  # not every template can render the start of a conversation
        return piece
    return prompt if piece.rstrip(" ") == prompt else piece


def join_pieces(pieces: list[str], turns: list[SampledTurn], tokenizer: PreTrainedTokenizerBase) -> TokenizedHistory:
    ids: list[int] = []
    trained: list[bool] = []
    logprobs: list[float] = []
    for piece, turn in zip(pieces, turns, strict=True):
        if turn.text.startswith("<think>"):
            piece = piece.removesuffix(EMPTY_THOUGHT)
        context = encode(piece, tokenizer)["input_ids"]
        if ids:
            context = drop_end(context, ids[-1], tokenizer)
        ids += context + turn.ids
        trained += [False] * len(context) + [True] * len(turn.ids)
        logprobs += [math.nan] * len(context) + turn.logprobs
    return TokenizedHistory(ids, trained, logprobs)


def drop_end(context: list[int], last: int, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Removes the end token after a turn, because a turn that ended by itself contains it as a sampled token. A
    template may write a space before it."""
    if context[:1] == [last]:
        return context[1:]
    if context[1:2] == [last] and last in tokenizer.added_tokens_decoder and not decode(context[:1], tokenizer).strip():
        return context[2:]
    return context

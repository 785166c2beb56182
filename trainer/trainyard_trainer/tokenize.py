"""Histories as token ids: what was sampled exactly as it was sampled, the context as the chat template renders it."""

import json
import math
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.payload import History, is_choice
from trainyard_trainer.sampled import read_logprobs, read_token_ids

# Characters of private use, which no template changes, mark where sampled tokens go.
MARK_OPEN, MARK_CLOSE = "\ue000", "\ue001"
# Templates of thinking models put this before an answer that does not think.
EMPTY_THOUGHT = "<think>\n\n</think>\n\n"


@dataclass(frozen=True)
class SampledTurn:
    ids: list[int]
    logprobs: list[float]
    text: str


@dataclass(frozen=True)
class TokenizedHistory:
    """Per token: its id, whether it was sampled (and is trained on), its sampled log-probability or NaN."""

    ids: list[int]
    trained: list[bool]
    logprobs: list[float]

    @property
    def num_trained(self) -> int:
        return sum(self.trained)


def tokenize_history(history: History, tokenizer: PreTrainedTokenizerBase, where: str) -> TokenizedHistory | None:
    """Cut after the last Choice with logprobs; None when there is none."""
    turns = {
        place: read_turn(item, entries, tokenizer, f"{where}.messages_and_choices[{place}]")
        for place, item in enumerate(history.messages_and_choices)
        if is_choice(item) and (entries := read_logprobs(item, f"{where}.messages_and_choices[{place}]"))
    }
    if not turns:
        return None
    items = history.messages_and_choices[: max(turns) + 1]
    pieces = render_pieces(items, history.tools, set(turns), tokenizer)
    return join_pieces(pieces, list(turns.values()), tokenizer)


def read_turn(choice: dict, entries: list[dict], tokenizer: PreTrainedTokenizerBase, where: str) -> SampledTurn:
    ids = read_token_ids(choice, entries, tokenizer, where)
    return SampledTurn(ids, [float(entry["logprob"]) for entry in entries], tokenizer.decode(ids))


def render_pieces(
    items: list[dict], tools: list[dict] | None, sampled: set[int], tokenizer: PreTrainedTokenizerBase
) -> list[str]:
    """The rendered text between the sampled turns: one piece before each of them."""
    mark = choose_mark(items)
    messages = [
        # The sampled ids hold the calls of a sampled turn already, so they are not rendered again.
        {"role": "assistant", "content": mark} if place in sampled else present_message(item)
        for place, item in enumerate(items)
    ]
    template = tokenizer.get_chat_template(tools=tools)
    options = {"enable_thinking": False, "preserve_thinking": True}
    try:
        text = tokenizer.apply_chat_template(
            messages,
            tools=[present_tool(tool) for tool in tools] if tools else None,
            tokenize=False,
            **{name: value for name, value in options.items() if name in template},
        )
    except Exception as cause:  # templates raise what they like, and jinja its own
        raise InvalidInput(f"The chat template of the base model refuses a history: {cause}.") from cause
    pieces = text.split(mark)[:-1]
    if len(pieces) != len(sampled):
        raise InvalidInput("The chat template of the base model leaves out or repeats an assistant turn.")
    return pieces


def choose_mark(items: list[dict]) -> str:
    """A text that occurs nowhere in the history."""
    text = json.dumps(items, ensure_ascii=False)
    number = 0
    while (mark := f"{MARK_OPEN}{number}{MARK_CLOSE}") in text:
        number += 1
    return mark


def join_pieces(pieces: list[str], turns: list[SampledTurn], tokenizer: PreTrainedTokenizerBase) -> TokenizedHistory:
    ids: list[int] = []
    trained: list[bool] = []
    logprobs: list[float] = []
    for piece, turn in zip(pieces, turns, strict=True):
        if turn.text.startswith("<think>"):
            piece = piece.removesuffix(EMPTY_THOUGHT)
        context = tokenizer.encode(piece, add_special_tokens=False)
        # The end token was sampled already where the turn ended by itself.
        if ids and context and context[0] == ids[-1]:
            context = context[1:]
        ids += context + turn.ids
        trained += [False] * len(context) + [True] * len(turn.ids)
        logprobs += [math.nan] * len(context) + turn.logprobs
    return TokenizedHistory(ids, trained, logprobs)


def present_message(item: dict) -> dict:
    """A message as the engine hands it to the template: parts joined, null as empty, arguments as objects."""
    message = {"role": "assistant"} | item["message"] if is_choice(item) else dict(item)
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
        except ValueError:
            arguments = {}  # as the engine does with arguments that are not JSON
    function["arguments"] = arguments if isinstance(arguments, dict) else {}
    return call | {"function": function}


def present_tool(tool: dict) -> dict:
    return tool if "type" in tool else {"type": "function", "function": tool}

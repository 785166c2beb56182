"""Compares the labels of supervised training with ART's, under templates of families that ART knows, where both agree.

ART trains on everything between an answer marker and the next question marker. The trainer trains only on the
assistant's messages. So the conversations here have no text between an answer and the next question: no results of
tools that the template writes without a question marker, no second answer, no tools before the last question.

ART leaves the search for its markers to Unsloth, which needs a GPU. `mark_answers` replaces it here. The Unsloth
version of ART 0.5.18 also trains on the line breaks at the end of an answer marker, because it searches for them one
token too late. The trainer does not: every prompt ends with them.
"""

import sys
from collections.abc import Callable
from inspect import signature
from random import Random
from types import ModuleType

import pytest
from art.preprocessing.tokenize import tokenize_sft_batch
from art.trajectories import Trajectory
from art.utils.model_config import get_instruction_response_parts
from transformers import PreTrainedTokenizerBase

from peers.trajectories import TOOL, Maker
from testing.seeds import draw_seeds
from testing.styled_templates import STYLES, dress
from trainyard_trainer.sft.dataset import tokenize_row
from trainyard_trainer.tokens.assistant_spans import Conversation
from trainyard_trainer.tokens.rendering import present_message

IGNORED = -100
# Templates, and whether they write the results of tools as questions.
FAMILIES = {
    "tiny-chat": True,
    "chatml": True,
    "qwen3": True,
    "llama3": False,
    "mistral": False,
    "gemma": False,
}


# Templates that write a call's arguments as they are, whether these are text, as in ART, or an object.
CALLING = ["tiny-chat", "chatml", "llama3", "mistral", "qwen3"]


def mark_answers(
    trainer: None, *, instruction_part: str, response_part: str, tokenizer: PreTrainedTokenizerBase, **_: object
) -> Callable[[dict], dict]:
    """Labels from the end of each answer marker to the next question marker, or to the end."""
    question, response = (
        tokenizer.encode(part, add_special_tokens=False) for part in (instruction_part, response_part)
    )

    def find(part: list[int], ids: list[int], start: int) -> int:
        positions = range(start, len(ids) - len(part) + 1)
        return next((position for position in positions if ids[position : position + len(part)] == part), len(ids))

    def label(ids: list[int]) -> list[int]:
        labels, position = [IGNORED] * len(ids), 0
        while (position := find(response, ids, position)) < len(ids):
            start, position = position + len(response), find(question, ids, position)
            labels[start:position] = ids[start:position]
        return labels

    return lambda examples: {"labels": [label(ids) for ids in examples["input_ids"]]}


@pytest.fixture(autouse=True)
def unsloth(monkeypatch):
    stand_in = ModuleType("unsloth_zoo.dataset_utils")
    stand_in.train_on_responses_only = mark_answers
    for module in (ModuleType("unsloth"), ModuleType("unsloth_zoo"), stand_in):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def label_theirs(messages: list[dict], tools: list[dict] | None, tokenizer: PreTrainedTokenizerBase) -> tuple:
    return label_by_art(messages, tools, tokenizer, *get_instruction_response_parts("a model", tokenizer))


def label_by_art(messages: list[dict], tools: list[dict] | None, tokenizer, *markers: str, **options) -> tuple:
    trajectory = Trajectory(messages_and_choices=messages, tools=tools, reward=0.0)
    batch = tokenize_sft_batch(
        [trajectory], 1e-4, tokenizer, *markers, chat_template_tool_schema_format="vllm_openai", **options
    )
    (row,) = batch.trajectory_tensors
    return row["input_ids"][0].tolist(), [label != IGNORED for label in row["labels"][0].tolist()]


def label_ours(
    messages: list[dict], tools: list[dict] | None, tokenizer: PreTrainedTokenizerBase, *, only_last: bool = False
) -> tuple:
    presented = [present_message(message) for message in messages]
    return tokenize_row(Conversation(presented, tools, tokenizer), only_last=only_last)


def make_conversation(maker: Maker, calls: bool) -> list[dict]:
    """With `calls`, some answers follow a call and its result."""
    random = maker.random
    messages: list[dict] = []
    if random.random() < 0.5:
        messages.append({"role": "system", "content": maker.make_text()})
    for _ in range(random.randint(1, 4)):
        messages.append({"role": "user", "content": maker.make_text()})
        if calls and random.random() < 0.3:
            messages += maker.make_call()
        messages.append(make_answer(maker))
    if random.random() < 0.3:
        messages.append({"role": "user", "content": maker.make_text()})
    return messages


def make_answer(maker: Maker) -> dict:
    return {"role": "assistant", "content": maker.make_text()}


@pytest.mark.parametrize("style", FAMILIES)
@pytest.mark.parametrize("seed", draw_seeds(3))
def test_labels_are_those_of_art(tokenizer, style, seed):
    random = Random(f"{style} {seed}")
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    messages = make_conversation(Maker(random, dressed, end=""), FAMILIES[style])
    tools = [TOOL] if FAMILIES[style] and random.random() < 0.5 else None
    assert label_ours(messages, tools, dressed) == label_theirs(messages, tools, dressed)


@pytest.mark.skipif("assistant_turns" not in signature(tokenize_sft_batch).parameters, reason="older than ART 0.5.23")
@pytest.mark.parametrize("style", ["tiny-chat", *STYLES])
@pytest.mark.parametrize("seed", draw_seeds(3))
def test_labels_of_the_last_answer_are_those_of_art(tokenizer, style, seed):
    random = Random(f"{style} {seed}")
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    messages = make_conversation(Maker(random, dressed, end=""), style in CALLING)
    if messages[-1]["role"] == "user":
        messages.pop()
    tools = [TOOL] if style in CALLING and random.random() < 0.5 else None
    ours = label_ours(messages, tools, dressed, only_last=True)
    # The markers are not used for the last answer, and ART does not know them for all templates.
    assert ours == label_by_art(messages, tools, dressed, "no", "marker", assistant_turns="last")


def test_thoughts_are_labelled_as_in_art(tokenizer):
    dressed = dress(tokenizer, "qwen3")
    answers = ["<think>\nA colour.\n</think>\n\nRed.", "<think>\nAnother.\n</think>\n\nBlue."]
    messages = [
        {"role": role, "content": text} for text in answers for role, text in (("user", "A?"), ("assistant", text))
    ]
    ours = label_ours(messages, None, dressed)
    assert ours == label_theirs(messages, None, dressed)
    learnt = [token for token, trained in zip(*ours, strict=True) if trained]
    assert dressed.decode(learnt) == f"Red.<|im_end|>\n{answers[1]}<|im_end|>\n"

from collections import Counter
from itertools import islice
from random import Random

import pytest

from tiny_chat import words
from tiny_chat.batches import IGNORED, encode_dialogue
from tiny_chat.corpus import generate_dialogues
from tiny_chat.dialogues import talk_colour

CALL = {"type": "function", "function": {"name": "search", "arguments": {"query": "owls"}}}
TEXT_CALL = {"type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
TOOL = {"type": "function", "function": {"name": "search", "description": "Finds.", "parameters": {"type": "object"}}}


def render(tokenizer, messages, **options):
    return tokenizer.apply_chat_template(messages, tokenize=False, **options)


def test_the_same_seed_gives_the_same_dialogues():
    assert list(islice(generate_dialogues(1), 200)) == list(islice(generate_dialogues(1), 200))
    assert list(islice(generate_dialogues(1), 200)) != list(islice(generate_dialogues(2), 200))


def test_colours_are_answered_evenly_and_one_at_a_time():
    rng = Random(0)
    answers = [talk_colour(rng)[1]["content"].lower() for _ in range(6000)]
    named = [[colour for colour in words.COLOURS if colour in answer.replace("colored", "")] for answer in answers]
    counts = Counter(found[0] for found in named if len(found) == 1)
    assert sum(counts.values()) == 6000
    assert all(400 < counts[colour] < 600 for colour in words.COLOURS)


@pytest.mark.parametrize("text", ["plain", "ünïcödé “quotes”", "日本語 🎈👩‍🚀", "\t tabs\r\n\n", "\x00\x7f", " "])
def test_any_text_survives_the_tokenizer(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_every_kind_of_turn_is_rendered(tokenizer):
    messages = [
        {"role": "system", "content": "S"},
        {"role": "developer", "content": "D"},
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "T", "tool_call_id": "1"},
        {"role": "assistant", "content": "A"},
    ]
    text = render(tokenizer, messages)
    assert text == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>developer\nD<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
        '<|im_start|>assistant\n<tool_call>\n{"name": "search", "arguments": {"query": "owls"}}\n</tool_call>'
        "<|im_end|>\n"
        "<|im_start|>user\n<tool_response>\nT\n</tool_response><|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
    )
    messages[3]["tool_calls"] = [TEXT_CALL]
    assert render(tokenizer, messages) == text
    assert render(tokenizer, messages[:3], add_generation_prompt=True).endswith("<|im_start|>assistant\n")
    assert render(tokenizer, messages, continue_final_message=True) == text.removesuffix("<|im_end|>\n")


def test_tools_join_the_system_turn(tokenizer):
    user = {"role": "user", "content": "U"}
    text = render(tokenizer, [{"role": "system", "content": "S"}, user], tools=[TOOL])
    assert text.startswith("<|im_start|>system\nS\n\nYou may call these tools:")
    assert '{"name": "search", "description": "Finds.", "parameters": {"type": "object"}}\n' in text
    assert text.count("<|im_start|>") == 2
    assert render(tokenizer, [user], tools=[TOOL]).startswith("<|im_start|>system\nYou may call")


def test_labels_cover_what_the_assistant_says_and_its_end(tokenizer):
    dialogue = next(item for item in generate_dialogues(5) if len(item["messages"]) > 4 and not item["tools"])
    ids, labels = encode_dialogue(tokenizer, dialogue)
    assert len(ids) == len(labels)
    said = tokenizer.decode([label for label in labels if label != IGNORED])
    answers = [message["content"] for message in dialogue["messages"] if message["role"] == "assistant"]
    assert said == "".join(f"{answer}<|im_end|>" for answer in answers)

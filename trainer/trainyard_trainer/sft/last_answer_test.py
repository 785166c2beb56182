"""What is learnt of a row whose last answer alone is trained. peers/sft_labels_test.py compares it with ART."""

import copy

import pytest

from testing.styled_templates import STYLES, dress
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.dataset import tokenize_row
from trainyard_trainer.sft.last_answer import split_last_answer
from trainyard_trainer.tokens.assistant_spans import Conversation
from trainyard_trainer.tokens.rendering import present_message

ASK, RED = {"role": "user", "content": "A colour?"}, {"role": "assistant", "content": "Red."}
MORE, BLUE = {"role": "user", "content": "Another?"}, {"role": "assistant", "content": "Blue."}
CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
THOUGHT = BLUE | {"content": "<think>\nBlue is next.\n</think>\n\nBlue."}
# What the template writes around the last answer, which is trained with it.
AROUND = {
    "chatml": ("", "<|im_end|>\n"),
    "command_r": ("", "<|END_OF_TURN_TOKEN|>"),
    "deepseek": ("", "<|end_of_sentence|>"),
    "falcon": (" ", ""),
    "gemma": ("", "<end_of_turn>\n"),
    "granite": ("", "<|end_of_text|>\n"),
    "harmony": ("<|channel|>final<|message|>", "<|return|>"),
    "llama2": (" ", " </s>"),
    "llama3": ("", "<|eot_id|>"),
    "mistral": ("", "</s>"),
    "phi3": ("", "<|end|>\n<|endoftext|>"),
    "phi4": ("", "<|im_end|>"),
    "qwen3": ("", "<|im_end|>\n"),
    "vicuna": (" ", "</s>"),
    "zephyr": ("", "</s>\n"),
}


def build(tokenizer, *messages) -> Conversation:
    return Conversation([present_message(message) for message in messages], None, tokenizer)


def write(tokenizer, template) -> object:
    changed = copy.deepcopy(tokenizer)
    changed.chat_template = template
    return changed


@pytest.mark.parametrize("style", STYLES)
def test_the_last_answer_follows_its_prompt(tokenizer, style):
    dressed = dress(tokenizer, style)
    conversation = build(dressed, ASK, RED, MORE, BLUE)
    prompt, answer = split_last_answer(conversation)
    assert prompt == conversation.render(conversation.messages[:-1], answering=True)
    before, end = AROUND[style]
    assert answer == f"{before}Blue.{end}"


def test_prompt_and_answer_are_tokenized_apart(tokenizer):
    answers = "{% for m in messages %}{{ ' t' if m.role == 'assistant' }}{{ m.content }}{% endfor %}"
    changed = write(tokenizer, answers + "{{ ' t' if add_generation_prompt }}")
    ids, trained = tokenize_row(build(changed, ASK, RED | {"content": "he end."}), only_last=True)
    prompt, answer = (changed.encode(text, add_special_tokens=False) for text in ("A colour? t", "he end."))
    assert (ids, trained) == (prompt + answer, [False] * len(prompt) + [True] * len(answer))
    assert ids != changed.encode("A colour? the end.", add_special_tokens=False)


@pytest.mark.parametrize(
    ("style", "messages", "answer"),
    [
        ("qwen3", [ASK, THOUGHT], f"{THOUGHT['content']}<|im_end|>\n"),
        ("qwen3", [ASK, THOUGHT, MORE, BLUE], "Blue.<|im_end|>\n"),
        ("deepseek", [ASK, THOUGHT], "\n\nBlue.<|end_of_sentence|>"),
        ("llama3", [ASK, CALLED], '{"name": "search", "parameters": {"query": "owls"}}<|eot_id|>'),
        ("chatml", [ASK, RED, BLUE], "Blue.<|im_end|>\n"),
    ],
)
def test_the_last_message_is_trained_as_the_template_writes_it(tokenizer, style, messages, answer):
    assert split_last_answer(build(dress(tokenizer, style), *messages))[1] == answer


def test_a_masked_last_answer_is_not_trained(tokenizer):
    ids, trained = tokenize_row(build(tokenizer, ASK, RED), {1}, only_last=True)
    assert len(ids) == len(trained) > 0
    assert not any(trained)


@pytest.mark.parametrize(
    ("template", "messages", "sentence"),
    [
        (None, [ASK, RED, MORE], "The last message must be the assistant's if assistant_turns is last"),
        ("{% for m in messages %}{{ m.content if m.role == 'user' }}{% endfor %}", [ASK, RED], "cannot be separated"),
        (
            "{% for m in messages %}{{ m.content | length ~ m.content }}{% endfor %}{{ ':' if add_generation_prompt }}",
            [ASK, RED],
            "cannot be separated",
        ),
        (
            "{% for m in messages %}{{ m.content ~ m.content }}{% endfor %}{{ ':' if add_generation_prompt }}",
            [ASK, RED],
            "cannot be separated",
        ),
    ],
)
def test_a_row_whose_last_answer_is_unclear_is_refused(tokenizer, template, messages, sentence):
    changed = write(tokenizer, template) if template else tokenizer
    with pytest.raises(InvalidInput, match=sentence):
        split_last_answer(build(changed, *messages))

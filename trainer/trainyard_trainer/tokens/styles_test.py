"""What is learnt of a conversation under templates in the styles of public models: the assistant's turns, with what
ends them, and nothing of a tool's result. peers/sft_labels_test.py compares the turns with ART."""

import pytest

from testing.styled_templates import STYLES, dress
from trainyard_trainer.sft.dataset import tokenize_row
from trainyard_trainer.tokens.assistant_spans import Conversation
from trainyard_trainer.tokens.rendering import present_message

CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}

# Before an answer, after an answer that another message follows, and after the last answer.
AROUND = {
    "chatml": ("", "<|im_end|>\n", "<|im_end|>\n"),
    "command_r": ("", "<|END_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
    "deepseek": ("", "<|end_of_sentence|>", "<|end_of_sentence|>"),
    "falcon": (" ", "", ""),
    "gemma": ("", "<end_of_turn>\n", "<end_of_turn>\n"),
    "granite": ("", "<|end_of_text|>\n", "<|end_of_text|>\n"),
    "harmony": ("<|channel|>final<|message|>", "<|end|>", "<|return|>"),
    "llama2": (" ", " </s>", " </s>"),
    "llama3": ("", "<|eot_id|>", "<|eot_id|>"),
    "mistral": ("", "</s>", "</s>"),
    "phi3": ("", "<|end|>\n", "<|end|>\n<|endoftext|>"),
    "phi4": ("", "<|im_end|>", "<|im_end|>"),
    "qwen3": ("", "<|im_end|>\n", "<|im_end|>\n"),
    "vicuna": (" ", "</s>", "</s>"),
    "zephyr": ("", "</s>\n", "</s>\n"),
}
# Starts an answer with a thought, which may be empty, but writes no thought into earlier answers.
EMPTY_THOUGHT = {"qwen3": "<think>\n\n</think>\n\n"}

CALLED = '<tool_call>\n{"name": "search", "arguments": {"query": "owls"}}\n</tool_call>'
# The trained text of a question, a call, its result, an answer, another question and its answer.
AROUND_TOOLS = {
    "chatml": [f"{CALLED}<|im_end|>\n", "They hoot.<|im_end|>\n", "Blue.<|im_end|>\n"],
    "qwen3": [f"{CALLED}<|im_end|>\n", "They hoot.<|im_end|>\n", "<think>\n\n</think>\n\nBlue.<|im_end|>\n"],
    "llama3": [
        '{"name": "search", "parameters": {"query": "owls"}}<|eot_id|>',
        "They hoot.<|eot_id|>",
        "Blue.<|eot_id|>",
    ],
    "mistral": ['[TOOL_CALLS][{"name": "search", "arguments": {"query": "owls"}}]</s>', "They hoot.</s>", "Blue.</s>"],
    "command_r": [
        'Action: search {"query": "owls"}<|END_OF_TURN_TOKEN|>',
        "They hoot.<|END_OF_TURN_TOKEN|>",
        "Blue.<|END_OF_TURN_TOKEN|>",
    ],
    "deepseek": [
        '<|tool_call_begin|>search<|tool_sep|>{"query": "owls"}<|tool_call_end|><|end_of_sentence|>',
        "They hoot.<|end_of_sentence|>",
        "Blue.<|end_of_sentence|>",
    ],
    "granite": [
        '<|tool_call|>search{"query": "owls"}<|end_of_text|>\n',
        "They hoot.<|end_of_text|>\n",
        "Blue.<|end_of_text|>\n",
    ],
    "harmony": [
        ' to=functions.search<|channel|>commentary<|message|>{"query": "owls"}<|call|>',
        "<|channel|>final<|message|>They hoot.<|end|>",
        "<|channel|>final<|message|>Blue.<|return|>",
    ],
}


def ask(text: str) -> dict:
    return {"role": "user", "content": text}


def answer(text: str | None, **more: object) -> dict:
    return {"role": "assistant", "content": text, **more}


def learn(tokenizer, style: str, messages: list[dict], tools: list[dict] | None = None) -> list[str]:
    """The texts of the trained tokens, one for each contiguous range."""
    dressed = dress(tokenizer, style)
    row = tokenize_row(Conversation([present_message(message) for message in messages], tools, dressed))
    runs: list[list[int]] = [[]]
    for token, trained in zip(*row, strict=True):
        if trained:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return [dressed.decode(run) for run in runs if run]


def expect(style: str, *answers: str, last: bool = True) -> list[str]:
    """`last` says that nothing follows the last answer."""
    before, between, end = AROUND[style]
    texts = [f"{before}{text}{between}" for text in answers]
    return [*texts[:-1], f"{EMPTY_THOUGHT.get(style, '')}{before}{answers[-1]}{end}"] if last else texts


def test_every_style_exists():
    assert sorted(AROUND) == STYLES


@pytest.mark.parametrize("style", STYLES)
def test_the_answers_and_their_ends_are_trained(tokenizer, style):
    system = {"role": "system", "content": "Be short."}
    first = [ask("A colour?"), answer("Red.")]
    talk = [*first, ask("Another?"), answer("Blue."), ask("A third?"), answer("Teal, I think.")]
    assert learn(tokenizer, style, first) == expect(style, "Red.")
    assert learn(tokenizer, style, talk) == expect(style, "Red.", "Blue.", "Teal, I think.")
    assert learn(tokenizer, style, [system, *talk]) == expect(style, "Red.", "Blue.", "Teal, I think.")
    assert learn(tokenizer, style, [*first, ask("Another?")]) == expect(style, "Red.", last=False)


@pytest.mark.parametrize("style", STYLES)
def test_equal_answers_and_answers_within_questions_are_distinguished(tokenizer, style):
    messages = [ask("Red. Red."), answer("Red."), ask("Red."), answer("Red."), ask("Say: Red.")]
    assert learn(tokenizer, style, messages) == expect(style, "Red.", "Red.", last=False)


@pytest.mark.parametrize("style", AROUND_TOOLS)
def test_calls_are_trained(tokenizer, style):
    messages = [
        ask("Owls?"),
        answer(None, tool_calls=[CALL]),
        {"role": "tool", "tool_call_id": "1", "content": "Owls hoot."},
        answer("They hoot."),
        ask("A colour?"),
        answer("Blue."),
    ]
    assert learn(tokenizer, style, messages, [TOOL]) == AROUND_TOOLS[style]

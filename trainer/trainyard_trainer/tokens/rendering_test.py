"""Which prompts continue the row so far, under templates in the styles of public models. docs/jobs.md has the table.

trainyard_engine/prompts_test.py compares the prompts with the engine's.
"""

from functools import partial
from types import SimpleNamespace

import pytest

from testing.styled_templates import FULL_STYLES, dress
from trainyard_trainer.tokens.harmony import TOKENS, load_encoding
from trainyard_trainer.tokens.rendering import PromptOptions, render_prompt

TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
CALL = {"id": "call00001", "type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
ASK, MORE = {"role": "user", "content": "A colour?"}, {"role": "user", "content": "Another?"}
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call00001", "content": "Owls hoot."}
RED = {"role": "assistant", "content": "Red."}
THOUGHT = {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nRed."}
EVERY = {"a later turn", "a turn after a tool's result", "a later turn with tools", "a later turn after a thought"}
# The turns whose prompt continues the row so far, if the sampled answer is what the template writes for it.
CONTINUED = {
    "full/deepseek_v3": EVERY,
    "full/gemma3": {"a later turn", "a later turn after a thought"},
    "full/gpt_oss": {"a turn after a tool's result"},
    "full/granite3": EVERY,
    "full/llama3": EVERY,
    "full/minimax_m2": set(),
    "full/mistral_v3": EVERY - {"a later turn with tools"},
    "full/nemo": EVERY - {"a later turn with tools"},
    "full/phi4_mini": EVERY,
    "full/qwen3": EVERY - {"a later turn after a thought"},
    "full/qwen3_thinking": set(),
    "full/qwq": set(),
    "full/r1_distill": set(),
}


# What ends a sampled answer, where the template ends an earlier answer otherwise.
ENDS = {"full/gpt_oss": "<|return|>"}


def list_continued(tokenizer, end: str) -> set[str]:
    def render(*messages: dict, tools: list[dict] | None = None) -> str:
        return tokenizer.decode(render_prompt(list(messages), tools, tokenizer))

    def continues(answer: dict, *after: dict, tools: list[dict] | None = None) -> bool:
        """Whether the next prompt begins with the prompt before the answer, and then has the whole answer."""
        sampled = f"{answer['content']}{end}" if answer["content"] else ""
        rest = render(ASK, answer, *after, tools=tools).removeprefix(before := render(ASK, tools=tools))
        return render(ASK, answer, *after, tools=tools).startswith(before) and sampled in rest

    found = {
        "a later turn": continues(RED, MORE),
        "a later turn after a thought": continues(THOUGHT, MORE),
    }
    if "tool" in tokenizer.chat_template:
        found["a later turn with tools"] = continues(RED, MORE, tools=TOOLS)
        found["a turn after a tool's result"] = continues(CALLED, RESULT, tools=TOOLS)
    return {name for name, continued in found.items() if continued}


@pytest.mark.parametrize("style", FULL_STYLES)
def test_turns_that_continue_the_row_so_far(tokenizer, style):
    dressed = dress(tokenizer, style)
    dressed.bos_token = "<bos>"
    assert list_continued(dressed, ENDS.get(style, "")) == CONTINUED[style]


def test_a_final_answer_of_gpt_oss_ends_its_row():
    tokenizer = SimpleNamespace(convert_tokens_to_ids=TOKENS.get)
    encode = partial(load_encoding().encode, allowed_special="all")
    first = render_prompt([ASK], TOOLS, tokenizer)
    final = encode("<|channel|>final<|message|>Red.")
    later = render_prompt([ASK, RED, MORE], TOOLS, tokenizer)
    assert later[: len(first + final) + 1] == [*first, *final, *encode("<|end|>")]  # sampled was <|return|>
    called = encode(' to=functions.search<|channel|>commentary json<|message|>{"query": "owls"}<|call|>')
    after_result = render_prompt([ASK, CALLED, RESULT], TOOLS, tokenizer)
    assert after_result[: len(first + called)] == first + called


def test_a_chat_changes_its_prompt(tokenizer):
    dressed = dress(tokenizer, "full/granite3")
    documents = [{"title": "Owls", "text": "They hoot."}]
    options = PromptOptions(
        {"thinking": True}, documents=documents, continue_final_message=True, add_generation_prompt=False
    )
    assert dressed.decode(render_prompt([ASK, RED], None, dressed, options)) == (
        "<|start_of_role|>system<|end_of_role|>You help. Think first.<|end_of_text|>\n"
        "<|start_of_role|>documents<|end_of_role|>Document 0\nOwls: They hoot.\n\n<|end_of_text|>\n"
        "<|start_of_role|>user<|end_of_role|>A colour?<|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>Red."
    )

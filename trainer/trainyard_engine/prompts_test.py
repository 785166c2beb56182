"""The trainer renders a conversation to the same ids as the engine, under templates in the styles of public models."""

import asyncio
import copy
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from vllm.config import ModelConfig, VllmConfig
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.exceptions import VLLMValidationError
from vllm.renderers import renderer_from_config
from vllm.renderers.hf import _detect_content_format, _resolve_chat_template_kwargs
from vllm.renderers.online_renderer import OnlineRenderer

from testing.styled_templates import FULL_STYLES, STYLES, read_template, save_styled_model
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.chat_template import find_variables, loops_over_parts
from trainyard_trainer.tokens.harmony import TOKENS, load_encoding
from trainyard_trainer.tokens.rendering import PromptOptions, render_prompt

ALL = [*STYLES, *FULL_STYLES]
TOOLS = [
    {
        "type": "function",
        "function": {
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
            "name": "search",
            "description": "Finds animals.",
        },
    },
    {"type": "function", "function": {"name": "now", "strict": True}},
]
SYSTEM, DEVELOPER = {"role": "system", "content": "Be short."}, {"role": "developer", "content": "No jokes."}
ASK, MORE = {"role": "user", "content": "A colour?"}, {"role": "user", "content": "Another?"}
RED = {"role": "assistant", "content": "Red."}
RESULT = {"role": "tool", "tool_call_id": "call00001", "name": "search", "content": "Owls hoot."}
PARTS = [{"type": "text", "text": "A colour"}, {"type": "text", "text": "of owls?"}]
THOUGHT = {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nRed."}


def call(number: int = 1, name: str = "search", arguments: str | None = '{"query": "owls"}') -> dict:
    function = {"name": name, "arguments": arguments}
    return {"type": "function", "id": f"call0000{number}", "function": function}


CALLED = {"role": "assistant", "content": None, "tool_calls": [call()]}
TOOL_TURN = [ASK, CALLED, RESULT]
CONVERSATIONS: dict[str, dict] = {
    "a first turn": {"messages": [ASK]},
    "a first turn that was told something": {"messages": [SYSTEM, ASK]},
    "a later turn": {"messages": [SYSTEM, ASK, RED, MORE]},
    "a later turn after a thought": {"messages": [ASK, THOUGHT, MORE]},
    "a later turn after reasoning": {"messages": [ASK, RED | {"reasoning_content": "Hm."}, MORE]},
    "a first turn with tools": {"messages": [SYSTEM, ASK], "tools": TOOLS},
    "a turn after a tool's result": {"messages": TOOL_TURN, "tools": TOOLS},
    "a turn after a result of a call with a thought": {
        "messages": [SYSTEM, ASK, CALLED | {"content": "<think>\nHm.\n</think>\n\n", "reasoning": "So."}, RESULT],
        "tools": TOOLS,
    },
    "a turn after the results of two calls": {
        "messages": [
            ASK,
            CALLED | {"content": "I look.", "tool_calls": [call(), call(2, "now", "")]},
            RESULT,
            RESULT | {"tool_call_id": "call00002", "content": [{"type": "text", "text": "Noon"}, *PARTS]},
        ],
        "tools": TOOLS,
    },
    "a later turn after a tool's result": {
        "messages": [*TOOL_TURN, {"role": "assistant", "content": "They hoot."}, MORE],
        "tools": TOOLS,
    },
    "arguments that are no object": {
        "messages": [ASK, CALLED | {"tool_calls": [call(1, "search", "[1]")]}, RESULT],
        "tools": TOOLS,
    },
    "a developer": {"messages": [DEVELOPER, ASK]},
    "a developer besides the system": {"messages": [SYSTEM, DEVELOPER, ASK]},
    "a developer within the conversation": {
        "messages": [SYSTEM, ASK, RED, DEVELOPER | {"content": PARTS}, MORE],
        "tools": TOOLS,
    },
    "parts": {"messages": [SYSTEM | {"content": PARTS}, ASK | {"content": PARTS}, RED | {"content": PARTS}, MORE]},
    "a part without a text": {"messages": [ASK | {"content": [*PARTS, {"type": "text", "text": None}]}]},
    "other members": {
        "messages": [ASK | {"weight": 0, "name": "bob"}, RED | {"refusal": None, "thinking": "Hm."}, MORE]
    },
    "no contents": {"messages": [ASK | {"content": []}, RED | {"content": None}, MORE]},
    "instructions of a program": {"messages": [SYSTEM | {"content": "x-anthropic-billing-header: 1\nBe short."}, ASK]},
    "a set date": {
        "messages": [SYSTEM, ASK],
        "chat_template_kwargs": {"date_string": "1 May 2020", "tools_in_user_message": False},
    },
    "without thinking": {"messages": [ASK], "chat_template_kwargs": {"enable_thinking": False, "nobody_knows": 1}},
    "kept thoughts": {"messages": [ASK, THOUGHT, MORE], "chat_template_kwargs": {"preserve_thinking": True}},
    "unset variables": {"messages": [ASK], "chat_template_kwargs": {"enable_thinking": None, "thinking": "auto"}},
    "a variable that the chat itself sets": {
        "messages": [ASK],
        "chat_template_kwargs": {"add_generation_prompt": False},
    },
    "low effort": {"messages": [SYSTEM, ASK], "reasoning_effort": "low"},
    "no effort": {"messages": [SYSTEM, ASK], "reasoning_effort": "none"},
    "no effort, but thinking": {
        "messages": [ASK],
        "reasoning_effort": "none",
        "chat_template_kwargs": {"enable_thinking": True},
    },
    "documents": {
        "messages": [ASK],
        "documents": [{"title": "Owls", "text": "They hoot."}, {"title": "T", "text": "x"}],
    },
    "documents as variables": {
        "messages": [ASK],
        "chat_template_kwargs": {"documents": [{"title": "O", "text": "x"}], "thinking": True},
    },
    "a continued answer": {"messages": [ASK, RED], "add_generation_prompt": False, "continue_final_message": True},
    "no answer": {"messages": [ASK], "add_generation_prompt": False},
    "special tokens": {"messages": [ASK], "add_special_tokens": True},
}
# What the templates refuse, in the engine and here: results of tools, and several calls at once.
TOOL_TURNS = [
    name for name, members in CONVERSATIONS.items() if any(each["role"] == "tool" for each in members["messages"])
]
REFUSED = {"gemma": TOOL_TURNS, "full/gemma3": TOOL_TURNS, "full/llama3": ["a turn after the results of two calls"]}
# Templates that differ in how they read a message's content.
EACH, END = "{% for m in messages %}", "{% endfor %}"
PARTS_OF = "{% for p in m.content %}{{ p }}{% endfor %}"
MACRO = "{% macro show(x, y) %}{% for p in y %}{{ p }}{% endfor %}{% endmacro %}"
READERS = [
    EACH + "{{ m.content }}" + END,
    EACH + PARTS_OF + END,
    EACH + "{% for p in m['content'][1:] | reverse %}{{ p }}{% endfor %}" + END,
    EACH + "{% for p in m.parts %}{{ p }}{% endfor %}" + END,
    EACH + "{% for p in m['content'][0] %}{{ p }}{% endfor %}" + END,
    EACH + "{% for p in m.content or [] %}{{ p }}{% endfor %}" + END,
    EACH + "{% for key, value in m.content %}{{ key }}{% endfor %}" + END,
    EACH + "{% set content = m.content %}{% for p in content %}{{ p }}{% endfor %}" + END,
    EACH + "{% set text = m.content %}{% for p in text %}{{ p }}{% endfor %}" + END,
    "{% for m in messages[1:] | list %}" + PARTS_OF + END,
    "{% for m in (messages if tools else messages[1:]) %}" + PARTS_OF + END,
    "{% for m in tools %}" + PARTS_OF + END,
    "{% for a, b in messages %}{{ a }}{% endfor %}" + EACH + PARTS_OF + END,
    "{% set a = messages[1:] %}{% set b = a %}{% for m in b %}" + PARTS_OF + END,
    "{% set n = namespace() %}{% set n.a = messages %}" + EACH + PARTS_OF + END,
    "{% set m = messages[0] %}" + PARTS_OF,
    MACRO + EACH + "{{ show(1, m['content']) }}" + END,
    MACRO + EACH + "{{ show(m.content, 1) }}" + END,
    MACRO + EACH + "{{ show(y=m.content) }}" + END,
    "{% macro show(content) %}{% for p in content %}{{ p }}{% endfor %}{% endmacro %}{{ show(messages[0].content) }}",
    "{% generation %}{{ messages }}{% endgeneration %}{% set bos_token = bos_token | default('') %}{{ other }}",
]
# Functions that templates call. The trainer lets no request set them.
FUNCTIONS = {"raise_exception", "strftime_now"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("styled") / "model"


@pytest.fixture(scope="module")
def tokenizer(folder):
    return save_styled_model(folder, ALL)


@pytest.fixture(scope="module")
def renderer(folder, tokenizer) -> OnlineRenderer:
    config = VllmConfig(model_config=ModelConfig(str(folder), dtype="float32", max_model_len=4096))
    return OnlineRenderer(
        config.model_config,
        renderer_from_config(config),
        request_logger=None,
        chat_template=None,
        chat_template_content_format="auto",
        trust_request_chat_template=True,
    )


@pytest.fixture
def ask_engine(renderer) -> Callable[[str, dict], list[int]]:
    """The ids of the engine's own prompt. Raises its refusal."""

    def ask(template: str, members: dict) -> list[int]:
        body = {"model": "tiny", "tool_choice": "none", "chat_template": template, **copy.deepcopy(members)}
        _, prompts = asyncio.run(renderer.render_chat(ChatCompletionRequest.model_validate(body)))
        return prompts[0]["prompt_token_ids"]

    return ask


@pytest.fixture
def ask_harmony(renderer, ask_engine, monkeypatch) -> Callable[[str, dict], list[int]]:
    """As an engine of gpt-oss."""
    monkeypatch.setattr(renderer, "use_harmony", True)
    return ask_engine


def ask_trainer(tokenizer, template: str, members: dict) -> list[int]:
    dressed = copy.copy(tokenizer)
    dressed.chat_template = template
    options = {name: value for name, value in members.items() if name not in ("messages", "tools")}
    return render_prompt(members["messages"], members.get("tools"), dressed, PromptOptions(**options))


@pytest.mark.parametrize("style", ALL)
def test_prompts_are_those_of_the_engine(tokenizer, ask_engine, style):
    template = read_template(style)
    refused = []
    for name, members in CONVERSATIONS.items():
        try:
            expected = ask_engine(template, members)
        except VLLMValidationError:
            refused.append(name)
            with pytest.raises(InvalidInput):
                ask_trainer(tokenizer, template, members)
        else:
            shown = ask_trainer(tokenizer, template, members)
            assert (name, tokenizer.decode(shown)) == (name, tokenizer.decode(expected))
            assert shown == expected
    assert refused == REFUSED.get(style, [])


@pytest.mark.parametrize("name", CONVERSATIONS.keys() - {"a part without a text"})  # the engine fails
def test_prompts_of_gpt_oss_are_those_of_the_engine(ask_harmony, name):
    members = CONVERSATIONS[name]
    tokenizer = SimpleNamespace(convert_tokens_to_ids=TOKENS.get)
    try:
        expected = ask_harmony("", members)
    except VLLMValidationError:
        with pytest.raises(InvalidInput, match="reasoning_effort is none"):
            ask_trainer(tokenizer, "", members)
    else:
        decode = load_encoding().decode
        assert decode(ask_trainer(tokenizer, "", members)) == decode(expected)
        assert ask_trainer(tokenizer, "", members) == expected


@pytest.mark.parametrize("template", [*READERS, *map(read_template, ALL)])
def test_templates_are_read_as_in_the_engine(template):
    assert loops_over_parts(template) == (_detect_content_format(template, default="string") == "openai")
    assert find_variables(template) == _resolve_chat_template_kwargs(template) - FUNCTIONS

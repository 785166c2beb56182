"""Excerpts of the families' chat templates: the parts that show the form of calls and of reasoning."""

import pytest

from trainyard_engine.parsers.families import (
    DEEPSEEK_CALLS,
    KIMI_CALLS,
    REASONING_FORMS,
    TOOL_FORMS,
    Parsers,
    guess_parsers,
)

CHATML_CALL = "<tool_call>\\n{'name': <function-name>, 'arguments': <args-json-object>}\\n</tool_call>"
THINKING = "{%- if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"

GUESSES = {
    "Qwen 2.5": ("qwen2", CHATML_CALL, Parsers("hermes")),
    "Qwen 3": ("qwen3", CHATML_CALL + THINKING, Parsers("hermes", "qwen3")),
    "Qwen 3 Instruct 2507": ("qwen3_moe", CHATML_CALL, Parsers("hermes")),
    "Qwen 3 Thinking 2507": (
        "qwen3",
        CHATML_CALL + r"{{- '<|im_start|>assistant\n<think>\n' }}",
        Parsers("hermes", "deepseek_r1"),
    ),
    "Qwen 3 Coder": ("qwen3_moe", "<tool_call>\n<function=example>\n<parameter=a>", Parsers("qwen3_coder")),
    "Qwen 3.5": ("qwen3_5", "<tool_call>\n<function=example>" + THINKING, Parsers("qwen3_coder", "qwen3")),
    "Llama 3.1": ("llama", "<|start_header_id|>{{ '\"parameters\": ' }}<|python_tag|>", Parsers("llama3_json")),
    "Hermes 3, a Llama": ("llama", CHATML_CALL, Parsers("hermes")),
    "Llama 4": ("llama4", "<|header_start|>{% if tools is not none %}", Parsers("llama4_pythonic")),
    "Mistral": ("mistral", "[AVAILABLE_TOOLS]{{ tools }}[TOOL_CALLS]", Parsers("mistral")),
    "Magistral": ("mistral", "[TOOL_CALLS] [THINK]", Parsers("mistral", "mistral")),
    "gpt-oss": ("gpt_oss", "<|channel|>commentary to=functions.f<|message|>", Parsers("openai", "openai_gptoss")),
    "DeepSeek V3": ("deepseek_v3", DEEPSEEK_CALLS + "```json", Parsers("deepseek_v3")),
    "DeepSeek R1": ("deepseek_v3", DEEPSEEK_CALLS + "```json </think>", Parsers("deepseek_v3", "deepseek_r1")),
    "DeepSeek V3.1": (
        "deepseek_v3",
        "{% set thinking = false %}</think>" + DEEPSEEK_CALLS,
        Parsers("deepseek_v31", "deepseek_v3"),
    ),
    "DeepSeek V3.2": ("deepseek_v32", "", Parsers("deepseek_v32", "deepseek_v3")),
    "DeepSeek V4": ("deepseek_v4", "", Parsers("deepseek_v4", "deepseek_v4")),
    "Kimi K2": ("kimi_k2", KIMI_CALLS, Parsers("kimi_k2")),
    "Kimi K2 Thinking": ("kimi_k2", KIMI_CALLS + "<think>", Parsers("kimi_k2", "kimi_k2")),
    "Gemma 3": ("gemma3", "<start_of_turn>user", Parsers()),
    "Gemma 3 with a template for tools": ("gemma3_text", "{%- if tools -%}", Parsers("pythonic")),
    "FunctionGemma": ("gemma3_text", "{% if tools %}<start_function_call>", Parsers("functiongemma")),
    "Gemma 4": ("gemma4", "<|tool_call>call:f{}<tool_call|> <|channel>thought", Parsers("gemma4", "gemma4")),
    "GLM 4.5": ("glm4_moe", "<tool_call>f\n<arg_key>a</arg_key> <think></think>", Parsers("glm45", "glm45")),
    "MiniMax M2": ("minimax_m2", "<minimax:tool_call><think>", Parsers("minimax_m2", "minimax_m2")),
    "Seed OSS": ("seed_oss", "<seed:tool_call><function=f><seed:think>", Parsers("seed_oss", "seed_oss")),
    "Granite 3": ("granite", "<|tool_call|> Here is my thought process:", Parsers("granite", "granite")),
    "Granite 4": ("granitemoehybrid", CHATML_CALL, Parsers("granite4")),
    "Phi 4 mini": ("phi3", "<|tool|>{{ tools }}<|/tool|><|tool_call|>", Parsers("phi4_mini_json")),
    "a model without tools": ("llama", "{{ bos_token }}{{ messages[0].content }}", Parsers()),
    "a model without a template": ("llama", "", Parsers()),
}


@pytest.mark.parametrize(("model_type", "template", "parsers"), GUESSES.values(), ids=GUESSES)
def test_a_family_is_known_by_its_template(model_type, template, parsers):
    assert guess_parsers(model_type, template) == parsers


def test_the_tiny_model_writes_the_form_of_hermes(tokenizer):
    assert guess_parsers("llama", tokenizer.chat_template) == Parsers("hermes")


def test_vllm_has_every_parser_that_is_guessed():
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    assert {form.parser for form in TOOL_FORMS} - set(ToolParserManager.list_registered()) == set()
    assert {form.parser for form in REASONING_FORMS} - set(ReasoningParserManager.list_registered()) == set()

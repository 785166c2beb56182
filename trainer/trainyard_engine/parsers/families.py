"""Guesses vLLM's parsers for a model from its chat template.

A template shows how the model was trained to write a call. This also works for fine-tuned models, whose form often
differs from their family's. If the template does not show it, the `model_type` of the configuration names the family.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Form:
    """A form of calls or reasoning. The template has all markers, and the model has one of the types, if any."""

    parser: str
    markers: tuple[str, ...] = ()
    model_types: frozenset[str] = field(default_factory=frozenset)

    def fits(self, model_type: str, template: str) -> bool:
        if self.model_types and model_type not in self.model_types:
            return False
        return all(marker in template for marker in self.markers)


@dataclass(frozen=True)
class Parsers:
    """The names of vLLM's parsers. None for no parser."""

    tool: str | None = None
    reasoning: str | None = None


# DeepSeek writes its markers with a wide bar and a low block.
DEEPSEEK_CALLS = "<\uff5ctool\u2581calls\u2581begin\uff5c>"
DEEPSEEK_MARKUP = "\uff5cDSML\uff5c"
KIMI_CALLS = "<|tool_calls_section_begin|>"
GPT_OSS = frozenset({"gpt_oss"})
DEEPSEEK_V32 = frozenset({"deepseek_v32"})
DEEPSEEK_V4 = frozenset({"deepseek_v4"})
HUNYUAN = frozenset({"hunyuan_v1_dense", "hunyuan_v1_moe"})

# The first form that fits is used, so that special forms come before the forms that they resemble.
TOOL_FORMS = (
    Form("openai", (), GPT_OSS),
    Form("deepseek_v4", (), DEEPSEEK_V4),
    Form("deepseek_v32", (), DEEPSEEK_V32),
    Form("deepseek_v32", (DEEPSEEK_MARKUP,)),
    Form("kimi_k2", (KIMI_CALLS,)),
    Form("deepseek_v3", (DEEPSEEK_CALLS, "```json")),
    Form("deepseek_v31", (DEEPSEEK_CALLS,)),
    Form("mistral", ("[TOOL_CALLS]",)),
    Form("functiongemma", ("<start_function_call>",)),
    Form("gemma4", ("<|tool_call>",)),
    # Gemma 3 has a template without tools. Admins may give it one that asks for calls in the form of Python.
    Form("pythonic", ("tools",), frozenset({"gemma3", "gemma3_text"})),
    Form("llama4_pythonic", ("tools",), frozenset({"llama4", "llama4_text"})),
    Form("glm45", ("<arg_key>",)),
    Form("minimax_m2", ("<minimax:tool_call>",)),
    Form("seed_oss", ("<seed:tool_call>",)),
    Form("qwen3_coder", ("<tool_call>", "<function=")),
    Form("phi4_mini_json", ("<|tool_call|>", "<|tool|>")),
    Form("granite", ("<|tool_call|>",)),
    Form("granite4", ("<tool_call>",), frozenset({"granitemoehybrid"})),
    Form("hunyuan_a13b", ("<tool_calls>",), HUNYUAN),
    Form("jamba", ("<tool_calls>",), frozenset({"jamba"})),
    Form("internlm", ("<|action_start|>",)),
    Form("lfm2", ("<|tool_call_start|>",)),
    Form("apertus", ("<|tools_prefix|>",)),
    Form("cohere_command3", ("<|START_ACTION|>",)),
    Form("olmo3", ("<function_calls>",)),
    # Qwen 2.5, Qwen 3, Hermes, and most models that were fine-tuned on ChatML.
    Form("hermes", ("<tool_call>", "arguments")),
    Form("llama3_json", ("<|start_header_id|>", '"parameters"')),
)

REASONING_FORMS = (
    Form("openai_gptoss", (), GPT_OSS),
    Form("deepseek_v4", (), DEEPSEEK_V4),
    Form("deepseek_v3", (), DEEPSEEK_V32),
    Form("deepseek_v3", (DEEPSEEK_MARKUP,)),
    Form("kimi_k2", (KIMI_CALLS, "<think>")),
    Form("deepseek_v3", (DEEPSEEK_CALLS, "thinking")),
    Form("deepseek_r1", (DEEPSEEK_CALLS, "</think>")),
    Form("mistral", ("[THINK]",)),
    Form("gemma4", ("<|channel>",)),
    Form("glm45", ("<arg_key>", "<think>")),
    Form("minimax_m2", ("<minimax:tool_call>", "<think>")),
    Form("seed_oss", ("<seed:think>",)),
    Form("hunyuan_a13b", ("<think>",), HUNYUAN),
    Form("granite", ("Here is my thought process",)),
    Form("olmo3", ("<function_calls>", "<think>")),
    Form("nemotron_v3", ("<think>",), frozenset({"nemotron_h"})),
    Form("qwen3", ("<think>", "enable_thinking")),
    # The answer begins inside of the thought: QwQ, and the Thinking versions of Qwen 3.
    Form("deepseek_r1", (r"assistant\n<think>",)),
)


def guess_parsers(model_type: str, template: str) -> Parsers:
    return Parsers(find_parser(TOOL_FORMS, model_type, template), find_parser(REASONING_FORMS, model_type, template))


def find_parser(forms: tuple[Form, ...], model_type: str, template: str) -> str | None:
    return next((form.parser for form in forms if form.fits(model_type, template)), None)

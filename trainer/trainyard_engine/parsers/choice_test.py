"""The parsers that an engine of the tiny model starts with."""

from pathlib import Path

import pytest

from trainyard_engine.arguments import build_arguments
from trainyard_engine.config import ConfigError, read_settings
from trainyard_engine.parsers.choice import choose_parsers
from trainyard_engine.server import parse_arguments

ENV = {
    "TRAINYARD_MODEL": str(Path(__file__).parents[2] / "models" / "tiny-chat"),
    "TRAINYARD_MODEL_NAMES": "tiny",
    "TRAINYARD_ARTIFACTS": "/a",
    "VLLM_API_KEY": "k",
}
TEMPLATE = "{% if tools %}<function_calls>{% endif %}"


def choose(extra=(), **named):
    variables = {f"TRAINYARD_{name.upper()}": value for name, value in named.items()}
    settings = read_settings(ENV | variables)
    parsed = parse_arguments(build_arguments(settings, list(extra)))
    choose_parsers(parsed, settings)
    reasoning = parsed.structured_outputs_config.reasoning_parser
    assert parsed.reasoning_parser == reasoning
    return parsed.tool_call_parser, parsed.enable_auto_tool_choice, reasoning


@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        ({}, ("hermes", True, "")),
        ({"tool_call_parser": "none"}, (None, False, "")),
        ({"tool_call_parser": "pythonic"}, ("pythonic", True, "")),
        ({"reasoning_parser": "granite"}, ("hermes", True, "granite")),
        ({"tool_call_parser": "none", "reasoning_parser": "none"}, (None, False, "")),
    ],
)
def test_named_parsers_are_used_and_the_others_are_guessed(named, chosen):
    assert choose(**named) == chosen


def test_arguments_of_the_admin_stay_as_they_are():
    extra = ["--enable-auto-tool-choice", "--tool-call-parser", "xlam"]
    assert choose(extra, tool_call_parser="hermes") == ("xlam", True, "")


def test_parsers_are_guessed_from_the_template_of_the_admin():
    assert choose(["--chat-template", TEMPLATE])[0] == "olmo3"


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        (
            {"tool_call_parser": "hermse"},
            "spec.engine.toolCallParser: vLLM has no parser 'hermse', but for example",
        ),
        ({"reasoning_parser": "qwen"}, "spec.engine.reasoningParser: vLLM has no parser 'qwen', but for example qwen3"),
        ({"tool_call_parser": "?"}, "spec.engine.toolCallParser: vLLM has no parser '?'"),
        # Its tokens are not in the tiny model's vocabulary.
        ({"tool_call_parser": "lfm2"}, "spec.engine.toolCallParser: --tool-call-parser lfm2 cannot be used"),
    ],
)
def test_a_parser_that_does_not_fit_is_named_with_its_field(named, sentence):
    with pytest.raises(ConfigError) as caught:
        choose(**named)
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).endswith('or "none" to serve the model without a parser.')
    assert len(str(caught.value)) < 500

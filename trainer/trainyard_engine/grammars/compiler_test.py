"""Tests vLLM's own compiler with the tiny model's tokenizer, in the engine's compiling processes."""

import asyncio
import json
from pathlib import Path

import pytest

from trainyard_engine.arguments import build_arguments
from trainyard_engine.config import ConfigError, read_settings
from trainyard_engine.grammars.checker import Checker
from trainyard_engine.grammars.order import MembersOrder, ParamsOrder
from trainyard_engine.grammars.template import Limits
from trainyard_engine.grammars.verdict import Verdict

MODEL = Path(__file__).parents[2] / "models" / "tiny-chat"
ENV = {
    "TRAINYARD_MODEL": str(MODEL),
    "TRAINYARD_MODEL_NAMES": "tiny",
    "TRAINYARD_ARTIFACTS": "/a",
    "VLLM_API_KEY": "k",
}
#: members that could let a request open an address or a file, or send a template, a tensor or code
TRUST = {
    "allowed_media_domains": ["media.invalid"],
    "allowed_local_media_path": "",
    "trust_request_chat_template": False,
    "trust_request_mm_kwargs": False,
    "enable_prompt_embeds": False,
    "trust_remote_code": False,
    "tool_server": None,
    "lora_modules": None,
    "kv_transfer_config": None,
    "ec_transfer_config": None,
}
#: settings that would turn vLLM into another server than the one under test
OTHER_SERVERS = (["--ssl-certfile", "a"], ["--ssl-cert-reqs", "2"], ["--uds", "a"], ["--api-server-count", "2"])
LIMITS = Limits(wall_seconds=60, processor_seconds=1)


def open_real_check():
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.sampling_params import StructuredOutputsParams

    from trainyard_engine.grammars.compiler import Compiler, Recipe
    from trainyard_engine.server import parse_arguments

    def parse(extra):
        return parse_arguments(build_arguments(read_settings(ENV), extra))

    def reject(extra):
        with pytest.raises(ConfigError) as caught:
            parse(extra)
        return str(caught.value)

    parsed = parse(["--max-model-len", "512", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"])
    config = AsyncEngineArgs.from_cli_args(parsed).create_engine_config()
    compiler = Compiler(Recipe(config, {"tool_parser_name": "hermes", "enable_auto_tools": True}))
    answers = {
        "trust": {name: getattr(parsed, name) for name in TRUST},
        "other servers": [reject(extra) for extra in OTHER_SERVERS],
    }

    def check(order):
        members = json.loads(order.text)
        if "tell" in members:
            return Verdict(error=json.dumps(answers[members["tell"]]))
        if "by the engine" in members:
            return compiler.check(ParamsOrder(StructuredOutputsParams(**members["by the engine"])))
        return compiler.check(order)

    return check


@pytest.fixture(scope="module")
def check():
    async def start():
        checker = Checker(LIMITS)
        checker.open(open_real_check)
        return checker

    async def ask(members):
        return await checker.compile(MembersOrder(json.dumps(members), "tools"))

    async def close():
        checker.close()

    with asyncio.Runner() as runner:
        checker = runner.run(start())
        yield lambda members: runner.run(ask(members))
        runner.run(close())


def test_a_request_cannot_set_untrusted_members(check):
    assert json.loads(check({"tell": "trust"}).error or "") == TRUST


def test_a_setting_that_changes_the_server_is_named(check):
    sentences = json.loads(check({"tell": "other servers"}).error or "")
    names = [f"{name} is not supported" for name, _ in OTHER_SERVERS]
    assert [sentence.split(":")[0] for sentence in sentences] == names


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}


@pytest.mark.parametrize(
    "members",
    [
        {"structured_outputs": {"regex": "[ab]"}},
        {"structured_outputs": {"choice": ["a", "b"]}},
        {"structured_outputs": {"json": SCHEMA}},
        {"structured_outputs": {"grammar": 'root ::= "a" | "b"'}},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"tools": [TOOL], "tool_choice": "required"},
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}},
    ],
)
def test_an_ordinary_grammar_is_compiled(check, members):
    verdict = check(members)
    assert verdict.error is None
    assert verdict.grammar and verdict.grammar.size > 0


@pytest.mark.parametrize(
    "members", [{"response_format": {"type": "text"}}, {"tools": [TOOL], "tool_choice": "none"}, {"tools": 1}]
)
def test_a_request_may_set_no_grammar(check, members):
    assert check(members) == Verdict()


@pytest.mark.parametrize("params", [{"choice": ["a", "b"]}, {"json": SCHEMA}, {"regex": "a+"}])
def test_the_grammar_has_its_key_in_the_engine(check, params):
    verdict = check({"structured_outputs": params})
    assert verdict.grammar
    assert check({"by the engine": params}) == verdict


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def ambiguous(rules):
    lines = [
        f'r{i} ::= r{(i * 7 + 1) % rules} r{(i * 3 + 2) % rules} | r{(i + 1) % rules} "a" | [a-z]*'
        for i in range(rules)
    ]
    return "\n".join(["root ::= r0", *lines])


HOSTILE = {
    "an enum of many texts": {"json": {"enum": [f"text {number}" for number in range(15_000)]}},
    "rules that are each other": {"grammar": ambiguous(100)},
    "a regex with an open bracket": {"regex": "["},
    "a schema without bottom": {"json": deep(400)},
    "what xgrammar would leave out": {"json": {"type": "integer", "multipleOf": 3}},
}


@pytest.mark.parametrize("structured_outputs", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_grammar_is_rejected(check, structured_outputs):
    assert check({"structured_outputs": structured_outputs}).error


HARMLESS = {
    "a schema at an address, which is not opened": {"json": {"$ref": "http://127.0.0.1:1/a"}},
    "nested quantifiers": {"regex": "((a{0,50}){0,50}){0,50}"},
    "the regex that backtracks for ever elsewhere": {"regex": "(a+)+b"},
    "a schema that refers to itself": {
        "json": {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}, "$ref": "#/$defs/a"}
    },
}


@pytest.mark.parametrize("structured_outputs", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_grammar_that_only_looks_hostile_is_compiled(check, structured_outputs):
    verdict = check({"structured_outputs": structured_outputs})
    assert verdict.grammar, verdict.error

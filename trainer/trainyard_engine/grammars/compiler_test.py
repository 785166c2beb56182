"""Tests xgrammar with the tiny model's tokenizer, in the compiling process."""

from functools import partial
from pathlib import Path

import pytest
from vllm.sampling_params import StructuredOutputsParams

from trainyard_engine.grammars.checker import GrammarChecker
from trainyard_engine.grammars.compiler import Tokenizer, open_check
from trainyard_engine.grammars.grammar import find_grammar
from trainyard_engine.grammars.process import Limits
from trainyard_engine.grammars.result_cache import ResultCache

MODEL = Path(__file__).parents[2] / "models" / "tiny-chat"


@pytest.fixture(scope="module")
def check():
    limits = Limits(wall_seconds=60, processor_seconds=1)
    checker = GrammarChecker(partial(open_check, Tokenizer(str(MODEL))), ResultCache(10**9), limits)
    yield lambda settings: checker.compile(find_grammar(StructuredOutputsParams(**settings)))
    checker.close()


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
ORDINARY = [
    {"regex": "[ab]"},
    {"choice": ["a", 'b"\\\n\x00é']},
    {"json": SCHEMA},
    {"json": '{"type": "array"}'},
    {"json_object": True},
    {"grammar": 'root ::= "a" | "b"  # start: "a"'},
    {"grammar": 'start: "a" | "b"  // root ::= "a"'},
    {
        "structural_tag": '{"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f"], '
        '"tags": [{"begin": "<f>", "content": {"type": "any_text"}, "end": "</f>"}]}}'
    },
    {"structural_tag": '{"structures": [{"begin": "<f>", "schema": {}, "end": "</f>"}], "triggers": ["<f"]}'},
]


@pytest.mark.parametrize("settings", ORDINARY)
def test_an_ordinary_grammar_is_compiled(check, settings):
    result = check(settings)
    assert result.error is None
    assert result.size > 0


def ambiguous(rules):
    lines = [
        f'r{i} ::= r{(i * 7 + 1) % rules} r{(i * 3 + 2) % rules} | r{(i + 1) % rules} "a" | [a-z]*'
        for i in range(rules)
    ]
    return "\n".join(["root ::= r0", *lines])


HOSTILE = {
    "an enum of many texts": {"json": {"enum": [f"text {number}" for number in range(60_000)]}},
    "rules that are each other": {"grammar": ambiguous(100)},
    "a regex with an open bracket": {"regex": "["},
    "a schema without bottom": {"json": '{"items":' * 1000 + "{}" + "}" * 1000},
    "no choice": {"choice": []},
    "no JSON": {"json": "{"},
}


@pytest.mark.parametrize("settings", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_grammar_is_rejected(check, settings):
    assert check(settings).error


HARMLESS = {
    "a schema at an address, which is not opened": {"json": {"$ref": "http://127.0.0.1:1/a"}},
    "nested quantifiers": {"regex": "((a{0,50}){0,50}){0,50}"},
    "the regex that backtracks for ever elsewhere": {"regex": "(a+)+b"},
    "a schema that refers to itself": {
        "json": {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}, "$ref": "#/$defs/a"}
    },
}


@pytest.mark.parametrize("settings", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_grammar_that_only_looks_hostile_is_compiled(check, settings):
    assert check(settings).error is None


def test_an_error_does_not_show_the_compiler_s_own_code(check):
    assert check({"regex": "["}).error.startswith("Regex parsing error")

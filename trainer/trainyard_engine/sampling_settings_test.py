import pytest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest

from trainyard_engine.sampling_settings import find_sampling

FORMAT = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


def ask(**members):
    return ChatCompletionRequest(messages=[], **members)


def complete(**members):
    return CompletionRequest(prompt="a", **members)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"temperature": 1, "top_p": 1, "top_k": 0, "min_p": 0, "repetition_penalty": 1, "min_tokens": 0},
        {"temperature": None, "top_k": -1, "logit_bias": {}, "bad_words": [], "response_format": {"type": "text"}},
        # These end an answer and change no distribution.
        {"stop": ["a"], "stop_token_ids": [1], "ignore_eos": True, "max_tokens": 5, "seed": 3, "n": 4},
    ],
)
def test_plain_sampling_has_no_settings(plain):
    assert find_sampling(ask(**plain), {}) == {}
    assert find_sampling(complete(**plain), {}) == {}


SETTINGS = {
    "temperature": 0.3,
    "top_p": 0.8,
    "top_k": 20,
    "min_p": 0.1,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.5,
    "repetition_penalty": 1.1,
    "min_tokens": 2,
    "thinking_token_budget": 0,
}


@pytest.mark.parametrize("request_type", [ask, complete])
def test_settings_with_numbers_have_their_values(request_type):
    assert find_sampling(request_type(**SETTINGS), {}) == SETTINGS
    assert find_sampling(request_type(temperature=0), {}) == {"temperature": 0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("logit_bias", {"5": 3}),
        ("allowed_token_ids", [5]),
        ("bad_words", ["red"]),
        ("use_beam_search", True),
        ("vllm_xargs", {"ngram_size": 2}),
        ("structured_outputs", {"regex": "a"}),
    ],
)
def test_other_settings_are_named(name, value):
    assert find_sampling(ask(**{name: value}), {}) == {name: True}


def test_a_format_is_a_grammar():
    assert find_sampling(complete(response_format=FORMAT), {}) == {"structured_outputs": True}


def test_the_defaults_of_the_engine_count_unless_the_request_sets_others():
    defaults = {"temperature": 0.6, "top_k": 20, "top_p": 0.95, "max_tokens": 9}
    assert find_sampling(ask(), defaults) == {"temperature": 0.6, "top_k": 20, "top_p": 0.95}
    assert find_sampling(ask(temperature=1, top_k=-1, top_p=0.9), defaults) == {"top_p": 0.9}

import math
import sys

import pytest

from testing.styled_templates import dress
from trainyard_trainer.data.payload import History
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.history import tokenize_history
from trainyard_trainer.tokens.rendering import present_message, present_tool

USER = {"role": "user", "content": "Name a colour."}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def tokenize(tokenizer, *items, tools=None):
    return tokenize_history(History(list(items), tools), tokenizer, "here")


def render(tokenizer, messages, **options):
    return tokenizer.apply_chat_template(messages, return_dict=False, **options)


@pytest.mark.parametrize(
    ("form", "text"),
    [("token_ids", "I like blüe 🎈."), ("token_id", "I like blüe 🎈."), ("bytes", "I like blue.")],
)
def test_each_form_of_the_sampled_ids(tokenizer, make_choice, form, text):
    choice = make_choice(text, form=form)
    history = tokenize(tokenizer, USER, choice)
    prompt = render(tokenizer, [USER], add_generation_prompt=True)
    sampled = make_choice(text)["token_ids"]
    assert history.ids == prompt + sampled
    assert history.trained == [False] * len(prompt) + [True] * len(sampled)
    assert all(math.isnan(value) for value in history.logprobs[: len(prompt)])
    assert history.logprobs[len(prompt) :] == [-0.5] * len(sampled)


def test_sampled_ids_are_kept_if_encoding_again_would_give_others(tokenizer, make_choice):
    choice = make_choice("red")
    odd = [tokenizer.encode(letter, add_special_tokens=False)[0] for letter in "red"]
    choice["token_ids"] = [*odd, tokenizer.eos_token_id]
    choice["logprobs"]["content"] = [{"token": "?", "logprob": -1.0}] * 4
    assert tokenize(tokenizer, USER, choice).ids[-4:] == choice["token_ids"]


def test_several_turns_render_as_one_conversation(tokenizer, make_choice):
    first, second = make_choice("Red."), make_choice("Blue.")
    again = {"role": "user", "content": "Another?"}
    history = tokenize(tokenizer, {"role": "system", "content": "Hi."}, USER, first, again, second)
    messages = [{"role": "system", "content": "Hi."}, USER, first["message"], again, second["message"]]
    # The template ends the last turn with a line break that was not sampled.
    assert history.ids == render(tokenizer, messages)[:-1]
    assert history.num_trained == len(first["token_ids"]) + len(second["token_ids"])


def test_the_history_ends_with_its_last_trainable_turn(tokenizer, make_choice):
    choice = make_choice("Red.")
    silent = make_choice("Blue.") | {"logprobs": None}
    assert tokenize(tokenizer, USER, choice, USER, silent) == tokenize(tokenizer, USER, choice)
    assert tokenize(tokenizer, USER, silent, {"role": "assistant", "content": "Green."}) is None


def test_a_turn_that_was_cut_off_is_ended_by_the_template(tokenizer, make_choice):
    cut = make_choice("Red and")
    cut["token_ids"] = cut["token_ids"][:-1]
    cut["logprobs"]["content"] = cut["logprobs"]["content"][:-1]
    history = tokenize(tokenizer, USER, cut, USER, make_choice("Blue."))
    assert history.ids == render(tokenizer, [USER, cut["message"], USER, make_choice("Blue.")["message"]])[:-1]
    assert history.num_trained == len(cut["token_ids"]) + len(make_choice("Blue.")["token_ids"])


def test_calls_that_were_sampled_are_not_rendered_again(tokenizer, make_choice):
    text = '<tool_call>\n{"name": "search", "arguments": {"query": "owls"}}\n</tool_call>'
    called = make_choice(text)
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query":"owls"}'}}
    called["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "1", "content": "Owls hoot."}
    answer = make_choice("They hoot.")
    history = tokenize(tokenizer, USER, called, result, answer, tools=[TOOL])
    plain = [USER, called["message"], result, answer["message"]]
    assert history.ids == render(tokenizer, present(plain), tools=[TOOL])[:-1]


def present(messages):
    """Arguments as an object, as the engine passes them to the template."""
    call = messages[1]["tool_calls"][0]
    parsed = call | {"function": call["function"] | {"arguments": {"query": "owls"}}}
    return [messages[0], {"role": "assistant", "content": "", "tool_calls": [parsed]}, *messages[2:]]


def test_parts_nulls_and_bare_tools_are_read_as_in_the_engine(tokenizer, make_choice):
    parts = {"role": "user", "content": [{"type": "text", "text": "Name a"}, {"type": "text", "text": "colour."}]}
    empty = {"role": "assistant", "content": None}
    bare = TOOL["function"]
    history = tokenize(tokenizer, parts, empty, USER, make_choice("Red."), tools=[bare])
    same = [{"role": "user", "content": "Name a\ncolour."}, {"role": "assistant", "content": ""}, USER]
    assert history == tokenize(tokenizer, *same, make_choice("Red."), tools=[TOOL])


def test_arguments_of_a_call_reach_the_template_as_an_object():
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"bird": "owl"}'}}
    message = present_message({"role": "assistant", "content": None, "tool_calls": [call]})
    assert message["tool_calls"][0]["function"]["arguments"] == {"bird": "owl"}


def test_arguments_that_are_nested_too_deeply_are_empty(tokenizer, make_choice):
    def call(arguments):
        made = {"id": "1", "type": "function", "function": {"name": "search", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [made]}

    items = [{"role": "tool", "tool_call_id": "1", "content": "Owls hoot."}, make_choice("They hoot.")]
    deep = tokenize(tokenizer, USER, call("[" * 100_000), *items)
    assert deep == tokenize(tokenizer, USER, call("{}"), *items)


def test_a_message_that_is_nested_too_deeply_is_rejected(tokenizer, make_choice):
    nested = []
    for _ in range(sys.getrecursionlimit()):
        nested = [nested]
    with pytest.raises(InvalidInput, match="nested too deeply"):
        tokenize(tokenizer, USER | {"more": nested}, make_choice("Red."))


def test_the_markers_of_sampled_turns_may_occur_in_a_message(tokenizer, make_choice):
    odd = {"role": "user", "content": "\ue0000\ue001"}
    prompt = render(tokenizer, [odd], add_generation_prompt=True)
    assert tokenize(tokenizer, odd, make_choice("Red.")).ids[: len(prompt)] == prompt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"token_ids": [10**6], "logprobs": {"content": [{"token": "a", "logprob": -1.0}]}}, "sampled token ids"),
        (
            {"token_ids": None, "logprobs": {"content": [{"token": "no such token", "logprob": -1.0}]}},
            "sampled token ids",
        ),
        ({"logprobs": {"content": [{"token": "a", "logprob": None}]}}, "finite logprob"),
        ({"token_ids": None, "logprobs": {"content": [{"token": "token_id:²", "logprob": -1.0}]}}, "sampled token ids"),
        (
            {"token_ids": None, "logprobs": {"content": [{"token": "a", "bytes": 9**9, "logprob": -1}]}},
            "sampled token ids",
        ),
        ({"logprobs": {"content": [{"token": "a", "logprob": 10**400}]}}, "finite logprob"),
        ({"logprobs": {"content": "text"}}, "must be a list"),
    ],
)
def test_a_choice_that_cannot_be_read_is_named(tokenizer, make_choice, change, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        tokenize(tokenizer, USER, make_choice("Red.") | change)
    assert "here.messages_and_choices[1]" in caught.value.message


def test_half_of_a_surrogate_pair_is_not_a_text(tokenizer, make_choice):
    with pytest.raises(InvalidInput, match="surrogate"):
        tokenize(tokenizer, {"role": "user", "content": "\ud800"}, make_choice("Red."))


def test_answers_without_logprobs_are_trained_on_if_the_setting_allows_it(tokenizer, make_choice):
    plain, silent = {"role": "assistant", "content": "Red."}, make_choice("Blue.") | {"logprobs": None}
    history = tokenize_history(
        History([USER, plain, USER, silent, USER], None), tokenizer, "here", without_logprobs=True
    )
    shown = render(tokenizer, [USER, plain, USER, silent["message"]])
    assert history.ids == shown[: len(history.ids)]
    trained = [token for token, is_trained in zip(history.ids, history.trained, strict=True) if is_trained]
    # The ends of these answers were not sampled.
    assert tokenizer.decode(trained) == "Red.Blue."
    assert all(math.isnan(value) for value in history.logprobs)


def test_an_empty_answer_without_logprobs_is_context(tokenizer):
    items = [USER, {"role": "assistant", "content": None}]
    assert tokenize_history(History(items, None), tokenizer, "here", without_logprobs=True) is None


def test_calls_without_logprobs_are_rejected_if_they_would_be_trained_on(tokenizer):
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    items = [USER, {"role": "assistant", "content": None, "tool_calls": [call]}]
    with pytest.raises(InvalidInput, match=r"here.messages_and_choices\[1\] calls tools"):
        tokenize_history(History(items, [TOOL]), tokenizer, "here", without_logprobs=True)
    assert tokenize_history(History(items, [TOOL]), tokenizer, "here") is None


def test_tools_are_rendered_as_in_the_engine():
    bare = {"parameters": {"b": 1, "a": 2}, "name": "f", "strict": None, "more": 1}
    shown = [("name", "f"), ("description", None), ("parameters", {"b": 1, "a": 2})]
    for tool in (bare, {"function": bare, "type": "function", "more": 2}):
        presented = present_tool(tool)
        assert list(presented) == ["type", "function"]
        assert list(presented["function"].items()) == shown
    assert present_tool({"type": "function", "function": bare | {"strict": True}})["function"]["strict"] is True


@pytest.mark.parametrize(("style", "end"), [("llama2", "</s>"), ("vicuna", "</s>"), ("falcon", None)])
def test_spaces_around_an_answer_are_there_once(tokenizer, make_choice, style, end):
    dressed = dress(tokenizer, style)
    # After `[/INST]` or `ASSISTANT:`, models write a space first.
    answers = [sample(dressed, make_choice, f" {text}", end) for text in ("Red.", "Blue.")]
    history = tokenize(dressed, USER, answers[0], USER, answers[1])
    messages = [USER, {"role": "assistant", "content": "Red."}, USER]
    prompt = dressed.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    assert dressed.decode(history.ids) == prompt.replace("Red. </s>", "Red.</s>") + f" Blue.{end or ''}"
    trained = [token for token, is_trained in zip(history.ids, history.trained, strict=True) if is_trained]
    assert trained == answers[0]["token_ids"] + answers[1]["token_ids"]


def sample(tokenizer, make_choice, text, end):
    ids = tokenizer.encode(f"{text}{end or ''}", add_special_tokens=False)
    entries = [{"token": "?", "logprob": -0.5}] * len(ids)
    return make_choice(text) | {"token_ids": ids, "logprobs": {"content": entries}}

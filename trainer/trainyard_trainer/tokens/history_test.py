import math

import numpy as np
import pytest

from testing.histories import read_histories, read_history, tokenize
from testing.styled_templates import dress
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens import history
from trainyard_trainer.tokens.history import Turn, TurnReader, join_turns
from trainyard_trainer.tokens.rendering import present_message, present_tool, render_prompt

USER = {"role": "user", "content": "Name a colour."}
AGAIN = {"role": "user", "content": "Another?"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def render(tokenizer, messages, **options):
    return tokenizer.apply_chat_template(messages, return_dict=False, **options)


def show(row):
    """The ids, of which those that are trained are negative."""
    return [-token if trained else token for token, trained in zip(row.ids.tolist(), row.trained, strict=True)]


@pytest.mark.parametrize(
    ("form", "text"),
    [("token_ids", "I like blüe 🎈."), ("token_id", "I like blüe 🎈."), ("bytes", "I like blue.")],
)
def test_each_form_of_the_sampled_ids(tokenizer, make_choice, form, text):
    (row,) = tokenize([USER, make_choice(text, form=form)], tokenizer)
    prompt = render(tokenizer, [USER], add_generation_prompt=True)
    sampled = make_choice(text)["token_ids"]
    assert show(row) == prompt + [-token for token in sampled]
    assert np.isnan(row.logprobs[: len(prompt)]).all()
    assert row.logprobs[len(prompt) :].tolist() == [-0.5] * len(sampled)


def test_sampled_ids_are_kept_if_encoding_again_would_give_others(tokenizer, make_choice):
    choice = make_choice("red")
    odd = [tokenizer.encode(letter, add_special_tokens=False)[0] for letter in "red"]
    choice["token_ids"] = [*odd, tokenizer.eos_token_id]
    choice["logprobs"]["content"] = [{"token": "?", "logprob": -1.0}] * 4
    (row,) = tokenize([USER, choice], tokenizer)
    assert row.ids[-4:].tolist() == choice["token_ids"]


def test_log_probabilities_of_other_servers_are_read(tokenizer, make_choice):
    choice = make_choice("Red.")
    compact = [-0.25 - index for index in range(len(choice["token_ids"]))]
    for name in ("compact_logprobs", "art_completion_logprobs"):
        (row,) = tokenize([USER, choice | {"logprobs": None, name: compact}], tokenizer)
        assert row.logprobs[row.trained].tolist() == compact


def test_the_prompt_that_came_with_a_choice_is_used_unseen(tokenizer, make_choice):
    choice = make_choice("Red.") | {"prompt_token_ids": [5, 6, 7]}
    (row,) = tokenize([{"role": "user", "content": "Something else."}, choice], tokenizer)
    assert show(row) == [5, 6, 7] + [-token for token in choice["token_ids"]]


def test_turns_whose_prompts_extend_one_another_are_one_row(tokenizer, make_choice):
    first, second = make_choice("Red."), make_choice("Blue.")
    (row,) = tokenize([{"role": "system", "content": "Hi."}, USER, first, AGAIN, second], tokenizer)
    messages = [{"role": "system", "content": "Hi."}, USER, first["message"], AGAIN, second["message"]]
    # The template ends the last turn with a line break that was not sampled.
    assert row.ids.tolist() == render(tokenizer, messages)[:-1]
    assert row.num_trained == len(first["token_ids"]) + len(second["token_ids"])


def test_a_turn_whose_prompt_lacks_what_was_sampled_begins_a_row(tokenizer, make_choice):
    """For example a thought that the template drops: each turn is trained in the context that it was sampled in."""
    first = make_choice("<think>\nWarm.\n</think>\n\nRed.") | {"prompt_token_ids": [5, 6]}
    second = make_choice("Blue.") | {"prompt_token_ids": [5, 6, 8, 9]}
    third = make_choice("Pink.") | {"prompt_token_ids": [5, 6, *first["token_ids"], 7]}
    rows = tokenize([USER, first, AGAIN, second, AGAIN, third], tokenizer)
    assert [show(row) for row in rows] == [
        [5, 6, *(-token for token in first["token_ids"]), 7, *(-token for token in third["token_ids"])],
        [5, 6, 8, 9, *(-token for token in second["token_ids"])],
    ]


def turn(prompt, ids):
    return Turn(np.array(prompt), np.array(ids), np.zeros(len(ids), np.float32))


@pytest.mark.parametrize(
    ("name", "turns", "rows"),
    [
        ("two answers to one prompt", [([1, 2], [3]), ([1, 2], [4])], [[1, 2, -3], [1, 2, -4]]),
        ("the same answer twice", [([1, 2], [3]), ([1, 2], [3])], [[1, 2, -3], [1, 2, 3]]),
        ("answers that begin alike", [([1, 2], [3, 4]), ([1, 2], [3, 5])], [[1, 2, -3, -4], [1, 2, 3, -5]]),
        ("two equal rows", [([1], [2]), ([1], [2]), ([1, 2, 3], [4])], [[1, -2, 3, -4], [1, 2]]),
        ("the longest row", [([1], [2]), ([1], [2, 3]), ([1, 2, 3, 4], [5])], [[1, -2], [1, 2, -3, 4, -5]]),
        ("an unrelated prompt", [([1, 2], [3]), ([2, 1], [3])], [[1, 2, -3], [2, 1, -3]]),
        ("an edited answer", [([1], [2, 3]), ([1, 2, 4], [5])], [[1, -2, -3], [1, 2, 4, -5]]),
        ("a prompt that ends within an answer", [([1], [2, 3]), ([1, 2], [3, 4])], [[1, -2, -3], [1, 2, 3, -4]]),
    ],
)
def test_each_sampled_place_is_trained_once(name, turns, rows):
    assert [show(row) for row in join_turns([turn(*each) for each in turns], 100)] == rows, name


def test_a_row_that_is_too_long_takes_nothing_from_later_ones():
    rows = join_turns([turn([1], [2, 3, 4]), turn([1], [2])], 3)
    assert [show(row) for row in rows] == [[1, -2, -3, -4], [1, -2]]


def test_answers_without_log_probabilities_are_context(tokenizer, make_choice):
    choice, silent = make_choice("Red."), make_choice("Blue.") | {"logprobs": None}
    (row,) = tokenize([USER, choice], tokenizer)
    (same,) = tokenize([USER, choice, USER, silent, USER, {"role": "assistant", "content": "Green."}], tokenizer)
    assert show(same) == show(row)
    assert tokenize([USER, silent, {"role": "assistant", "content": "Green."}], tokenizer) == []


def test_choices_without_log_probabilities_are_trained_if_the_setting_allows_it(tokenizer, make_choice):
    silent, unknown = make_choice("Blue.") | {"logprobs": None}, make_choice("Red.", form="bytes") | {"logprobs": None}
    plain = {"role": "assistant", "content": "Green."}
    (row,) = tokenize([USER, plain, USER, silent, USER, unknown], tokenizer, without_logprobs=True)
    prompt = render(tokenizer, [USER, plain, USER], add_generation_prompt=True)
    assert show(row) == prompt + [-token for token in silent["token_ids"]]
    assert all(math.isnan(value) for value in row.logprobs)


def test_a_turn_that_was_cut_off_is_ended_by_the_template(tokenizer, make_choice):
    cut = make_choice("Red and")
    cut["token_ids"] = cut["token_ids"][:-1]
    cut["logprobs"]["content"] = cut["logprobs"]["content"][:-1]
    (row,) = tokenize([USER, cut, USER, make_choice("Blue.")], tokenizer)
    messages = [USER, cut["message"], USER, make_choice("Blue.")["message"]]
    assert row.ids.tolist() == render(tokenizer, messages)[:-1]
    assert row.num_trained == len(cut["token_ids"]) + len(make_choice("Blue.")["token_ids"])


def test_an_answer_that_reached_its_limit_is_context_if_asked(tokenizer, make_choice):
    cut, next_one = make_choice("Red and") | {"finish_reason": "length"}, make_choice("Blue.")
    reader = TurnReader(tokenizer, mask_truncated=True)
    (row,) = join_turns(reader.read(read_history([USER, cut, AGAIN, next_one]), "here"), 1000)
    assert (row.num_trained, reader.num_truncated, reader.num_turns) == (len(next_one["token_ids"]), 1, 1)


@pytest.mark.parametrize("mark", [{"weight": 0}, {"trainable": False}, {"train": False}], ids=str)
def test_a_masked_answer_is_context(tokenizer, make_choice, mark):
    first, second = make_choice("Red."), make_choice("Blue.")
    within = first | {"message": first["message"] | mark}
    for masked in (first | mark, within):
        (row,) = tokenize([USER, masked, AGAIN, second], tokenizer)
        assert row.ids[row.trained].tolist() == second["token_ids"]


def test_an_undecodable_answer_is_left_out_and_counted(tokenizer, make_choice):
    odd = make_choice("Teal.", form="bytes")
    odd["logprobs"]["content"][0] |= {"token": "\ufffd", "bytes": [239, 191, 189]}
    reader = TurnReader(tokenizer)
    (row,) = join_turns(reader.read(read_history([USER, odd, AGAIN, make_choice("Blue.")]), "here"), 1000)
    assert row.num_trained == len(make_choice("Blue.")["token_ids"])
    assert (reader.num_undecodable, reader.num_turns) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"token_ids": [10**6], "logprobs": {"content": [{"token": "a", "logprob": -1.0}]}},
        {"token_ids": [-1], "logprobs": {"content": [{"token": "a", "logprob": -1.0}]}},
        {"token_ids": None, "logprobs": {"content": [{"token": "no such token", "logprob": -1.0}]}},
        {"token_ids": None, "logprobs": {"content": [{"token": "token_id:²", "logprob": -1.0}]}},
        {"token_ids": None, "logprobs": {"content": [{"token": "a", "bytes": 9**9, "logprob": -1}]}},
    ],
)
def test_a_choice_without_certain_ids_is_left_out(tokenizer, make_choice, change):
    assert tokenize([USER, make_choice("Red.") | change], tokenizer) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logprobs": {"content": [{"token": "a", "logprob": None}]}}, "logprob must be a number, not null"),
        ({"logprobs": {"content": [{"token": "a", "logprob": 10**400}]}}, "not JSON|out of range"),
        ({"logprobs": {"content": "text"}}, "must be a list"),
        ({"prompt_token_ids": [10**6]}, "prompt_token_ids has ids that the base model lacks"),
        ({"prompt_token_ids": [-1]}, "prompt_token_ids has ids that the base model lacks"),
    ],
)
def test_a_choice_that_cannot_be_read_is_named(tokenizer, make_choice, change, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        tokenize([USER, make_choice("Red.") | change], tokenizer)
    assert "messages_and_choices[1]" in caught.value.message


def test_calls_that_were_sampled_are_not_rendered_again(tokenizer, make_choice):
    text = '<tool_call>\n{"name": "search", "arguments": {"query": "owls"}}\n</tool_call>'
    called = make_choice(text)
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query":"owls"}'}}
    called["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "1", "content": "Owls hoot."}
    answer = make_choice("They hoot.")
    (row,) = tokenize([USER, called, result, answer], tokenizer, [TOOL])
    plain = [USER, called["message"], result, answer["message"]]
    assert row.ids.tolist() == render(tokenizer, present(plain), tools=[TOOL])[:-1]


def present(messages):
    """Arguments as an object, as the engine passes them to the template."""
    call = messages[1]["tool_calls"][0]
    parsed = call | {"function": call["function"] | {"arguments": {"query": "owls"}}}
    return [messages[0], {"role": "assistant", "content": "", "tool_calls": [parsed]}, *messages[2:]]


def test_parts_nulls_and_bare_tools_are_read_as_in_the_engine(tokenizer, make_choice):
    parts = {"role": "user", "content": [{"type": "text", "text": "Name a"}, {"type": "text", "text": "colour."}]}
    empty = {"role": "assistant", "content": None}
    (row,) = tokenize([parts, empty, USER, make_choice("Red.")], tokenizer, [TOOL["function"]])
    same = [{"role": "user", "content": "Name a\ncolour."}, {"role": "assistant", "content": ""}, USER]
    (other,) = tokenize([*same, make_choice("Red.")], tokenizer, [TOOL])
    assert show(row) == show(other)


def test_arguments_of_a_call_reach_the_template_as_an_object():
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"bird": "owl"}'}}
    message = present_message({"role": "assistant", "content": None, "tool_calls": [call]})
    assert message["tool_calls"][0]["function"]["arguments"] == {"bird": "owl"}


def test_arguments_that_are_nested_too_deeply_are_empty(tokenizer, make_choice):
    def tokenize_call(arguments):
        made = {"id": "1", "type": "function", "function": {"name": "search", "arguments": arguments}}
        call = {"role": "assistant", "content": None, "tool_calls": [made]}
        result = {"role": "tool", "tool_call_id": "1", "content": "Owls hoot."}
        (row,) = tokenize([USER, call, result, make_choice("They hoot.")], tokenizer)
        return show(row)

    assert tokenize_call("[" * 100_000) == tokenize_call("{}")


def test_half_of_a_surrogate_pair_is_not_a_text(tokenizer):
    with pytest.raises(InvalidInput, match="surrogate"):
        render_prompt([{"role": "user", "content": "\ud800"}], None, tokenizer)


def test_tools_are_rendered_as_in_the_engine():
    bare = {"parameters": {"b": 1, "a": 2}, "name": "f", "strict": None, "more": 1}
    shown = [("name", "f"), ("description", None), ("parameters", {"b": 1, "a": 2})]
    for tool in (bare, {"function": bare, "type": "function", "more": 2}):
        presented = present_tool(tool)
        assert list(presented) == ["type", "function"]
        assert list(presented["function"].items()) == shown
    assert present_tool({"type": "function", "function": bare | {"strict": True}})["function"]["strict"] is True


@pytest.mark.parametrize(("style", "end"), [("llama2", "</s>"), ("vicuna", "</s>"), ("falcon", None)])
def test_a_sampled_turn_stands_behind_the_generation_prompt(tokenizer, make_choice, style, end):
    """After `[/INST]` or `ASSISTANT:`, models write a space first, which the message does not have."""
    dressed = dress(tokenizer, style)
    answers = [sample(dressed, make_choice, f" {text}", end) for text in ("Red.", "Blue.")]
    rows = [show(row) for row in tokenize([USER, answers[0], USER, answers[1]], dressed)]
    for index, before in enumerate([[USER], [USER, answers[0]["message"], USER]]):
        prompt = dressed.apply_chat_template(before, add_generation_prompt=True, return_dict=False)
        sampled = [-token for token in answers[index]["token_ids"]]
        assert any(
            [*map(abs, row[: len(prompt)]), *row[len(prompt) :]][: len(prompt + sampled)] == prompt + sampled
            for row in rows
        )


def sample(tokenizer, make_choice, text, end):
    ids = tokenizer.encode(f"{text}{end or ''}", add_special_tokens=False)
    entries = [{"token": "?", "logprob": -0.5}] * len(ids)
    return make_choice(text) | {"token_ids": ids, "logprobs": {"content": entries}}


def test_the_prompts_of_a_trajectory_are_bounded(tokenizer, make_choice, monkeypatch):
    monkeypatch.setattr(history, "MAX_PROMPT_TOKENS", 100)
    with pytest.raises(InvalidInput, match="The prompts of here have more than 100 tokens together"):
        tokenize([USER, make_choice("Red."), AGAIN, make_choice("Blue."), AGAIN, make_choice("Pink.")] * 3, tokenizer)


def test_histories_of_a_trajectory_are_rows_of_their_own(make_choice):
    trajectory = {"messages_and_choices": [USER], "additional_histories": [{"messages_and_choices": [AGAIN]}]}
    assert [each.messages_and_choices for each in read_histories(trajectory)] == [[USER], [AGAIN]]

"""Captured exchanges in the shapes that ART 0.5.23 sends; see docs/jobs.md."""

import json

import pytest

from testing.histories import MAX_LENGTH
from trainyard_trainer.data.payload import Payload, parse_payload
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.reports.claims import Artifact, Claim
from trainyard_trainer.tokens.history import TurnReader, join_turns

MODEL = "wandb-artifact:///local/demo/agent"
CLAIM = Claim("1", 1, "RL", Artifact("", ""), {}, "2", None, model_name="local/demo/agent")
USER = {"role": "user", "content": "Name a colour."}


def chat(prompt, *answers, model=MODEL, start="2026-11-29T06:40:05.090190Z", **request):
    """An exchange of chat completions: `prompt` has the ids of its prompt, and each answer its own."""
    return {
        "start_time": start,
        "end_time": start,
        "request": {"messages": [USER], "model": model} | request,
        "response": {
            "choices": [make_choice(ids, index) for index, ids in enumerate(answers)],
            "prompt_token_ids": prompt,
        },
        "model": model,
    }


def make_choice(ids, index=0):
    content = [{"token": f"token_id:{number}", "logprob": -0.5, "bytes": [84], "top_logprobs": []} for number in ids]
    message = {"role": "assistant", "content": "...", "reasoning": None}
    choice = {"index": index, "finish_reason": "stop", "message": message, "stop_reason": None, "token_ids": ids}
    return choice | {"logprobs": {"content": content, "refusal": None}}


def read(exchanges, **kinds):
    trajectory = {"exchanges": {"chat_completions": exchanges} | kinds, "reward": 1.0}
    content = json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode()
    ((found,),) = [group.trajectories for group in parse_payload(content, Payload(is_trained=CLAIM.is_of_model))]
    (history,) = found.read_histories()
    return history


@pytest.fixture
def train(tokenizer):
    """The rows of exchanges, of which trained ids are negative."""

    def run(exchanges, without_logprobs=False, **kinds):
        reader = TurnReader(tokenizer, without_logprobs=without_logprobs)
        rows = join_turns(reader.read(read(exchanges, **kinds), "here"), MAX_LENGTH)
        return [
            [-token if trained else token for token, trained in zip(row.ids.tolist(), row.trained, strict=True)]
            for row in rows
        ]

    return run


@pytest.mark.parametrize(
    ("name", "exchanges", "rows"),
    [
        ("one turn", [chat([1, 87], [333])], [[1, 87, -333]]),
        ("two turns", [chat([1], [2]), chat([1, 2, 3], [4])], [[1, -2, 3, -4]]),
        (
            "two turns out of order",
            [chat([1, 2, 3], [4], start="2026-11-29T07:00:00Z"), chat([1], [2])],
            [[1, -2, 3, -4]],
        ),
        ("an edited reply", [chat([1], [2]), chat([1, 5, 3], [4])], [[1, -2], [1, 5, 3, -4]]),
        ("unrelated calls", [chat([1], [2]), chat([9], [4])], [[1, -2], [9, -4]]),
        ("two choices", [chat([1], [2], [3])], [[1, -2], [1, -3]]),
        ("the same reply twice", [chat([1], [2]), chat([1], [2])], [[1, -2], [1, 2]]),
        ("another model's call", [chat([1], [2]), chat([1, 2], [3], model="openai/gpt-4.1")], [[1, -2]]),
        ("another step of the model", [chat([1], [2], model=f"{MODEL}:step3"), chat([1, 2], [3])], [[1, -2, -3]]),
        ("the model's short name", [chat([1], [2], model="local/demo/agent:latest")], [[1, -2]]),
        ("a model of a longer name", [chat([1], [2], model=f"{MODEL}-2")], []),
    ],
)
def test_chats_are_trained_where_they_were_sampled(train, name, exchanges, rows):
    assert train(exchanges) == rows, name


def test_a_stream_has_the_ids_of_its_prompt_in_its_choice(train):
    exchange = chat([1], [2])
    del exchange["response"]["prompt_token_ids"]
    exchange["response"] |= {"choices": [make_choice([2]) | {"prompt_token_ids": [1]}], "usage": None}
    assert train([exchange]) == [[1, -2]]


def test_ids_may_stand_in_the_log_probabilities_alone(train):
    exchange = chat([1], [2, 3])
    del exchange["response"]["choices"][0]["token_ids"]
    assert train([exchange]) == [[1, -2, -3]]


def test_completions(train):
    logprobs = {"tokens": ["a", "b"], "token_logprobs": [-0.5, -1.0]}
    choice = {"index": 0, "text": "ab", "finish_reason": "stop", "logprobs": logprobs, "token_ids": [3, 4]}
    reply = {"choices": [choice | {"prompt_token_ids": [1, 2]}]}
    exchange = {"request": {"model": MODEL, "prompt": "x"}, "response": reply}
    assert train([], completions=[exchange]) == [[1, 2, -3, -4]]
    named = choice | {"token_ids": None, "logprobs": logprobs | {"tokens": ["token_id:3", "token_id:4"]}}
    reply = {"choices": [named], "prompt_token_ids": [1, 2]}
    assert train([], completions=[exchange | {"response": reply}]) == [[1, 2, -3, -4]]


def test_responses_of_several_generations(train):
    tokens = [{"token_id": 3, "token": "a", "logprob": -0.5}, {"token_id": 4, "logprob": -0.25}]
    generations = [
        {"prompt_token_ids": [1, 2], "output_tokens": tokens, "output_indices": [0]},
        {"prompt_token_ids": [1, 2, 3, 4, 5], "token_ids": [6], "compact_logprobs": [-1.0], "output_indices": [2]},
    ]
    response = {"id": "r", "status": "completed", "output": [], "token_generations": generations}
    exchange = {"request": {"model": MODEL, "input": "x"}, "response": response}
    assert train([], responses=[exchange]) == [[1, 2, -3, -4, 5, -6]]


def test_messages(train):
    response = {
        "content": [],
        "stop_reason": "end_turn",
        "prompt_token_ids": [1],
        "token_ids": [2, 3],
        "logprobs": [-1, -2],
    }
    assert train([], messages=[{"request": {"model": MODEL}, "response": response}]) == [[1, -2, -3]]


def test_without_log_probabilities_only_if_the_setting_allows_it(train):
    exchange = chat([1], [2])
    exchange["response"]["choices"][0]["logprobs"] = None
    assert train([exchange], without_logprobs=True) == [[1, -2]]
    with pytest.raises(InvalidInput, match=r"exchanges.chat_completions\[0\].response.choices\[0\] has no log-prob"):
        train([exchange])


def change_choice(**members):
    exchange = chat([1], [2, 3])
    exchange["response"]["choices"][0] |= members
    return exchange


PLACE = r"trajectory_groups\[0\].trajectories\[0\].exchanges."


@pytest.mark.parametrize(
    ("exchanges", "message"),
    [
        (
            {"chat_completions": [chat(None, [2])]},
            r"chat_completions\[0\].response.choices\[0\] has no prompt_token_ids",
        ),
        (
            {"chat_completions": [change_choice(token_ids=None, logprobs=None)]},
            r"chat_completions\[0\].response.choices\[0\] has no token_ids",
        ),
        (
            {"chat_completions": [chat([1], [2]), change_choice(token_ids=[], logprobs=None)]},
            r"chat_completions\[1\].response.choices\[0\] has no token_ids",
        ),
        (
            {"chat_completions": [change_choice(compact_logprobs=[-1.0])]},
            r"chat_completions\[0\].response.choices\[0\] has 2 token ids, but 1 log-probabilities",
        ),
        (
            {"chat_completions": [change_choice(token_ids=[2, 4])]},
            r"chat_completions\[0\].response.choices\[0\].token_ids differ from the ids in its log-probabilities",
        ),
        (
            {"responses": [{"request": {"model": MODEL}, "response": {"output": []}}]},
            r"responses\[0\].response has no token_generations",
        ),
        ({"chat_completions": [{"request": {"model": MODEL}}]}, "missing required field `response`"),
        ({"chat_completions": {}}, "must be a list"),
    ],
)
def test_incomplete_replies_are_named(exchanges, message):
    with pytest.raises(InvalidInput, match=PLACE.removesuffix(".") + ".*" + message):
        read([], **exchanges)


def test_ids_beyond_the_vocabulary_are_named(train):
    with pytest.raises(InvalidInput, match="has token ids that the base model lacks"):
        train([chat([1], [10**6])])
    with pytest.raises(InvalidInput, match="prompt_token_ids has ids that the base model lacks"):
        train([chat([10**6], [1])])


def test_exchanges_and_messages_together_are_rejected():
    trajectory = {"exchanges": {"chat_completions": [chat([1], [2])]}, "messages_and_choices": [USER]}
    content = json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode()
    with pytest.raises(InvalidInput, match="has exchanges and messages_and_choices: send one of them"):
        parse_payload(content)


@pytest.mark.parametrize(
    ("request_members", "sampling"),
    [
        ({}, {}),
        ({"temperature": 1, "top_p": 1.0, "top_k": -1, "min_p": 0}, {}),
        (
            {"temperature": 0.3, "top_p": 0.8, "top_k": 20, "min_p": 0.1},
            {"temperature": 0.3, "top_p": 0.8, "top_k": 20, "min_p": 0.1},
        ),
        ({"temperature": 0}, {"temperature": 0}),
        ({"temperature": None}, {}),
    ],
)
def test_the_request_says_how_it_was_sampled(request_members, sampling):
    (item,) = read([chat([1], [2], **request_members)]).messages_and_choices
    assert item["sampled"].sampling == sampling

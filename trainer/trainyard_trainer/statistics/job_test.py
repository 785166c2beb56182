"""The token statistics of a whole job, against an independent computation."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from testing.histories import tokenize

USER = {"role": "user", "content": "Name a colour."}
OLD = -0.5
# Numbers in the file have 16 significant bits. The trainer's own computation differs in the last digits of float32.
TOLERANCE = 1e-4


@pytest.fixture
def train(jobs, make_choice):
    """Trains on answers with their rewards. Returns the file's columns and the pushes."""

    def run(answers, mode="all", **options):
        choices = [make_choice(text, OLD) for text, _ in answers]
        trajectories = [
            {"messages_and_choices": [USER, choice], "reward": reward}
            for choice, (_, reward) in zip(choices, answers, strict=True)
        ]
        content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
        jobs.run("RL", content, {"learning_rate": 1e-3}, token_statistics=mode, **options)
        recorder = jobs.recorders[-1]
        file = recorder.finish()
        return (pq.read_table(file).to_pydict() if file else None), recorder.pushes()

    return run


@pytest.fixture
def look_up(load_model, tokenizer, make_choice):
    """Ids, log-probabilities and entropies of an answer's trained tokens, from transformers alone."""

    def run(text):
        (found,) = tokenize([USER, make_choice(text)], tokenizer)
        ids = torch.from_numpy(found.ids)
        with torch.no_grad():
            logprobs = load_model()(ids[None]).logits[0, :-1].log_softmax(-1)
        positions = np.flatnonzero(found.trained)
        rows = logprobs[positions - 1]
        own = rows.gather(1, ids[positions][:, None])[:, 0]
        return positions.tolist(), ids[positions].tolist(), own.numpy(), -(rows.exp() * rows).sum(-1).numpy()

    return run


def select(columns, name, trajectory):
    pairs = zip(columns["trajectory_index"], columns[name], strict=True)
    return [value for index, value in pairs if index == trajectory]


def test_each_trained_token_is_recorded_with_its_values_in_the_gradient(train, look_up):
    answers = [("Red.", 1.0), ("Dark blue.", 0.0)]
    columns, pushes = train(answers)
    truth = [look_up(text) for text, _ in answers]
    total = sum(len(ids) for _, ids, _, _ in truth)
    # Advantages are +1 and -1. A trajectory's weight is one divided by its tokens, and the mean weight is one.
    mean_weight = 2 / total
    for trajectory, (advantage, (positions, ids, new, entropies)) in enumerate(zip([1, -1], truth, strict=True)):
        ratio = np.exp(new - OLD)
        weight = 1 / len(ids) / mean_weight
        coefficient = -np.clip(ratio, 0, 5) * advantage * weight / total
        assert select(columns, "position", trajectory) == positions
        assert select(columns, "token_id", trajectory) == ids
        assert select(columns, "old_logprob", trajectory) == [OLD] * len(ids)
        expected = {"new_logprob": new, "ratio": ratio, "entropy": entropies, "coefficient": coefficient}
        for name, values in expected.items():
            np.testing.assert_allclose(select(columns, name, trajectory), values, rtol=TOLERANCE, atol=TOLERANCE)
        assert pushes[f"0/{trajectory}"] == pytest.approx(advantage * np.abs(coefficient).sum(), rel=TOLERANCE)
    assert set(columns["gradient_step"]) == {1}
    assert not any(columns["dropped"])


def test_histories_that_are_too_long_are_recorded_as_dropped(train):
    long = "Red. " * 60
    columns, pushes = train([("Red.", 1.0), (long, 0.0), ("Teal.", 0.5)], max_length=64)
    assert "0/1" not in pushes
    assert set(select(columns, "dropped", 1)) == {True}
    assert set(select(columns, "new_logprob", 1)) == {None}
    assert set(select(columns, "old_logprob", 1)) == {OLD}
    assert set(select(columns, "dropped", 0)) == {False}


def test_without_a_file_the_pushes_are_the_same(train):
    answers = [("Red.", 1.0), ("Blue.", 0.0)]
    nothing, pushes = train(answers, "off")
    assert nothing is None
    assert pushes == train(answers)[1]
    assert pushes["0/0"] > 0 > pushes["0/1"]


def test_equal_rewards_push_no_trajectory(train):
    assert train([("Red.", 0.5), ("Blue.", 0.5)]) == (None, {})

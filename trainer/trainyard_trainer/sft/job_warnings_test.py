import json

import pytest

ROW = [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Teal."}]
LONG = [ROW[0], {"role": "assistant", "content": "Red. " * 60}]


@pytest.fixture
def train(jobs):
    """Trains on conversations and returns the warnings."""

    def run(*rows, **config):
        content = "\n".join(json.dumps({"messages": row}) for row in rows).encode()
        return jobs.run("SFT", content, config, max_length=64).warnings

    return run


def test_a_job_that_trains_on_all_data_has_no_warnings(train):
    assert train(ROW, ROW) == []


def test_rows_that_are_left_out(train):
    assert train(ROW, ROW[:1], LONG, ROW) == [
        ("no_answers", "1 of 4 rows has no assistant message, so there is nothing to train on."),
        ("too_long", "1 of 4 rows has more than 64 tokens, the base model's maxSequenceLength."),
    ]


def test_no_row_that_can_be_trained_on(train):
    causes = [
        ("no_answers", "1 of 3 rows has no assistant message, so there is nothing to train on."),
        ("too_long", "2 of 3 rows have more than 64 tokens, the base model's maxSequenceLength."),
    ]
    headline = f"Nothing was trained: {causes[0][1]} {causes[1][1]}"
    assert train(LONG, ROW[:1], LONG) == [("no_trainable_rows", headline), *causes]


def test_steps_that_change_no_weight(train):
    assert train(ROW, learning_rate=0) == [
        (
            "weights_unchanged",
            "No weight of the model changed (gradient steps: 1). Check that learning_rate is not 0 or too small.",
        )
    ]

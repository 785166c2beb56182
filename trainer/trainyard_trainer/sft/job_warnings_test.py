import json

import pytest

ROW = [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Teal."}]
LONG = [ROW[0], {"role": "assistant", "content": "Red. " * 60}]


@pytest.fixture
def train(jobs):
    """Trains on conversations and returns the warnings."""

    def run(*rows, **config):
        lines = [json.dumps(row if isinstance(row, dict) else {"messages": row}) if row else "" for row in rows]
        content = "\n".join(lines).encode()
        return jobs.run("SFT", content, config, max_length=64).warnings

    return run


def test_a_job_that_trains_on_all_data_has_no_warnings(train):
    assert train(ROW, ROW) == []


def test_rows_that_are_left_out(train):
    masked = [ROW[0], ROW[1] | {"weight": 0}]
    assert train(ROW, ROW[:1], None, masked, LONG, ROW) == [
        ("no_answers", "2 of 5 rows have no assistant message that is trained, so there is nothing to train on."),
        ("too_long", "1 of 5 rows has more than 64 tokens, the base model's maxSequenceLength: line 5."),
    ]


def test_the_first_lines_that_are_too_long_are_named_and_all_are_logged(train, capsys):
    message = "12 of 13 rows have more than 64 tokens, the base model's maxSequenceLength: lines "
    assert train(ROW, *[LONG] * 12) == [("too_long", f"{message}2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more.")]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    shown = [(line["line"], line["limit"]) for line in lines if line["message"] == "row left out: too long"]
    assert shown == [(number, 64) for number in range(2, 14)]


def test_what_is_not_read_of_a_row(train):
    named = [ROW[0] | {"name": "Ann"}, ROW[1]]
    members = dict.fromkeys("abcdefghijkl", 1)
    shown = "l (2), a (1), b (1), c (1), d (1), e (1), f (1), g (1), h (1), i (1) and 3 more"
    assert train(ROW, named, {"messages": ROW, **members}, {"messages": ROW, "l": 1}) == [
        ("members_ignored", f"3 of 4 rows have members that training does not read: {shown}.")
    ]


def test_reasoning_that_is_not_written(train):
    thought = [ROW[0], ROW[1] | {"reasoning_content": "It is short."}]
    assert train(ROW, thought) == [
        (
            "reasoning_dropped",
            "1 of 2 rows has reasoning that the base model's chat template leaves out, so it is not trained.",
        )
    ]


def test_no_row_that_can_be_trained_on(train):
    causes = [
        ("no_answers", "1 of 3 rows has no assistant message that is trained, so there is nothing to train on."),
        ("too_long", "2 of 3 rows have more than 64 tokens, the base model's maxSequenceLength: lines 1, 3."),
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

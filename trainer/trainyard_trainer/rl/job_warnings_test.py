import json

import pytest

USER = {"role": "user", "content": "Name a colour."}
KEEP = "Keep the Choice objects of the completion in messages_and_choices."
DIFFER = "so that every advantage is zero. A group needs at least two trajectories with different rewards."


@pytest.fixture
def train(jobs):
    """Trains on groups of (answers, reward) and returns the warnings."""

    def run(*groups, start=None, max_length=4096, **config):
        content = json.dumps({"trajectory_groups": [build_group(group) for group in groups]}).encode()
        config = {"learning_rate": 1e-3} | config
        return jobs.run("RL", content, config, start=start, max_length=max_length).warnings

    return run


def build_group(answered):
    return {
        "trajectories": [
            {"messages_and_choices": [item for answer in answers for item in (USER, answer)], "reward": reward}
            for answers, reward in answered
        ]
    }


@pytest.fixture
def good(make_choice):
    """A group in which everything can be trained on."""
    return [([make_choice("Red.")], 1.0), ([make_choice("Blue.")], 0.0)]


@pytest.fixture
def bare(make_choice):
    """The same with choices without log-probabilities, and with a copied message."""
    return [([make_choice("Red.") | {"logprobs": None}], 1.0), ([{"role": "assistant", "content": "Blue."}], 0.0)]


def test_a_job_that_trains_on_all_data_has_no_warnings(train, good):
    assert train(good) == []


def test_no_log_probabilities_at_all(train, bare):
    cause = f"2 of 2 trajectories have no log-probabilities. {KEEP}"
    assert train(bare) == [
        ("no_trainable_trajectories", f"Nothing was trained: {cause}"),
        ("missing_log_probabilities", cause),
    ]


def test_some_trajectories_without_log_probabilities(train, good, bare):
    assert train(good, [good[0], bare[1]]) == [
        ("missing_log_probabilities", f"1 of 4 trajectories has no log-probabilities. {KEEP}")
    ]


def test_answers_without_log_probabilities_are_trained_if_the_setting_allows_it(train, bare):
    assert train(bare, allow_training_without_logprobs=True) == []


def test_a_choice_without_log_probabilities_beside_one_with(train, good, make_choice):
    mixed = [make_choice("Red.") | {"logprobs": {"content": []}}, make_choice("Teal.")]
    assert train([(mixed, 1.0), good[1]]) == [
        (
            "choices_without_log_probabilities",
            "1 of 3 choices in the other trajectories has no log-probabilities. They are used as context only.",
        )
    ]


def test_equal_rewards(train, good):
    equal = [(answers, 0.5) for answers, _ in good]
    cause = f"2 of 2 groups have equal rewards, {DIFFER}"
    assert train(equal, equal[:1]) == [
        ("no_trainable_trajectories", f"Nothing was trained: {cause}"),
        ("equal_rewards", cause),
    ]
    assert train(good, equal) == [("equal_rewards", f"1 of 2 groups has equal rewards, {DIFFER}")]


@pytest.mark.parametrize(
    ("groups", "code", "cause"),
    [
        ([], "no_training_data", "trajectory_groups is empty. Send at least one group of trajectories."),
        ([[], []], "empty_groups", "2 of 2 groups have no trajectories."),
    ],
)
def test_no_data(train, groups, code, cause):
    assert train(*groups) == [("no_trainable_trajectories", f"Nothing was trained: {cause}"), (code, cause)]


def test_trajectories_without_an_answer(train, good):
    assert train(good, [([], 1.0), good[1]]) == [
        ("no_answers", "1 of 4 trajectories has no answer of the model, so there is nothing to train on.")
    ]


def test_histories_that_are_too_long(train, good, make_choice):
    long = [([make_choice("Red, " * 200)], 1.0), good[1]]
    assert train(good, long, max_length=128) == [
        ("too_long", "1 of 4 histories has more than 128 tokens, the base model's maxSequenceLength.")
    ]


def test_a_balance_that_leaves_no_advantage(train, good, bare):
    warnings = train([bare[0], good[1]], advantage_balance=1.0)
    assert [code for code, _ in warnings] == [
        "no_trainable_trajectories",
        "missing_log_probabilities",
        "zero_advantages",
    ]


def test_steps_that_change_no_weight(jobs, train, good):
    message = "No weight of the model changed (gradient steps: 1). Check that learning_rate is not 0 or too small."
    assert train(good, learning_rate=0) == [("weights_unchanged", message)]
    content = json.dumps({"trajectory_groups": [build_group(good)]}).encode()
    trained = jobs.run("RL", content, {"learning_rate": 1e-3}).checkpoint
    assert train(good, start=trained, learning_rate=0) == [("weights_unchanged", message)]
    assert train(good, start=trained) == []

import json

import pytest

from testing.histories import score_choices

USER = {"role": "user", "content": "Name a colour."}
KEEP = "Keep the Choice objects of the completion in messages_and_choices."
DIFFER = "so that every advantage is zero. A group needs at least two trajectories with different rewards."


@pytest.fixture
def train(jobs):
    """Trains on groups of (answers, reward), which the trained model has sampled, and returns the warnings."""

    def run(*groups, start=None, max_length=4096, **config):
        checkpoint = start and jobs.root / start.uri.removeprefix("artifact:///")
        built = [build_group(group, jobs.scheduler, checkpoint) for group in groups]
        content = json.dumps({"trajectory_groups": built}).encode()
        config = {"learning_rate": 1e-3} | config
        return jobs.run("RL", content, config, start=start, max_length=max_length).warnings

    return run


def build_group(answered, scheduler, checkpoint=None):
    return {
        "trajectories": [
            {
                "messages_and_choices": score_choices(
                    [item for answer in answers for item in (USER, answer)], scheduler, checkpoint
                ),
                "reward": reward,
            }
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


def test_choices_without_log_probabilities_are_trained_if_the_setting_allows_it(train, bare, make_choice):
    silent = [([make_choice(text) | {"logprobs": None}], reward) for text, reward in (("Red.", 1.0), ("Blue.", 0.0))]
    assert train(silent, allow_training_without_logprobs=True) == []
    # Of a copied message nobody knows the tokens.
    assert train(bare, allow_training_without_logprobs=True) == []


def test_answers_of_which_one_token_is_uncertain_are_left_out(train, good, make_choice):
    odd = make_choice("Teal.", form="bytes")
    odd["logprobs"]["content"][0] |= {"token": "\ufffd", "bytes": [239, 191, 189]}
    (code, message) = train(good, [([odd], 1.0), good[1]])[0]
    assert (code, message[:48]) == (
        "unknown_tokens",
        "1 of 4 answers has tokens whose ids are not cert",
    )


def test_answers_that_were_sampled_otherwise_are_told(train, good):
    cold = [
        (
            [
                answer | {"sampling": {"temperature": 0.3, "top_p": 0.8, "structured_outputs": True}}
                for answer in answers
            ],
            reward,
        )
        for answers, reward in good
    ]
    advice = "Training improves the policy at temperature 1, without top_p, top_k and min_p: sample with these."
    assert train(good, cold) == [
        ("far_from_sampler", f"2 of 4 answers were sampled with temperature 0.3. {advice}"),
        ("far_from_sampler", f"2 of 4 answers were sampled with top_p 0.8. {advice}"),
    ]


def test_answers_that_reached_their_limit_are_left_out_if_asked(train, good, make_choice):
    cut = [([make_choice("Red.") | {"finish_reason": "length"}], 1.0), good[1]]
    message = "1 of 4 answers has reached the limit of its tokens. mask_truncated leaves them out."
    assert train(good, cut, mask_truncated=True) == [("truncated_answers", message)]
    assert train(good, cut) == []


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
        (
            "too_long",
            "1 of 4 rows has more than 128 tokens, the base model's maxSequenceLength or packed_sequence_length: "
            "trajectory_groups[1].trajectories[0].",
        )
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
    content = json.dumps({"trajectory_groups": [build_group(good, jobs.scheduler)]}).encode()
    trained = jobs.run("RL", content, {"learning_rate": 1e-3}).checkpoint
    assert train(good, start=trained, learning_rate=0) == [("weights_unchanged", message)]
    assert train(good, start=trained) == []

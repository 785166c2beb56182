"""Counts the parts of an RL job's trajectories that cannot be trained on, to warn the client."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainyard_trainer.data.json_input import is_choice
from trainyard_trainer.data.payload import Group, Trajectory
from trainyard_trainer.reports.job_warnings import JobWarning, describe_share, head_warnings
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.tokens.history import is_answer
from trainyard_trainer.tokens.sampled import has_logprobs


@dataclass(frozen=True)
class Outcome:
    """How many histories fit into `limit` tokens, how many are too long, and how many samples are trained on."""

    num_fitting: int
    num_long: int
    num_trained: int
    limit: int


def find_warnings(groups: list[Group], config: RlConfig, outcome: Outcome) -> list[JobWarning]:
    """Empty if everything is trained on."""
    found = [
        *warn_of_groups(groups),
        *warn_of_trajectories(groups, config),
        *warn_of_length(outcome),
    ]
    if outcome.num_fitting and not outcome.num_trained:
        found.append(JobWarning("zero_advantages", "advantage_balance removes all advantages."))
    return found if outcome.num_trained else head_warnings(found, "no_trainable_trajectories")


def warn_of_groups(groups: list[Group]) -> Iterable[JobWarning]:
    if not groups:
        yield JobWarning("no_training_data", "trajectory_groups is empty. Send at least one group of trajectories.")
    if empty := sum(not group.trajectories for group in groups):
        yield JobWarning("empty_groups", f"{describe_share(empty, len(groups), 'groups')} no trajectories.")
    if equal := sum(has_equal_rewards(group) for group in groups):
        advice = "A group needs at least two trajectories with different rewards."
        share = describe_share(equal, len(groups), "groups")
        yield JobWarning("equal_rewards", f"{share} equal rewards, so that every advantage is zero. {advice}")


def has_equal_rewards(group: Group) -> bool:
    return len({trajectory.reward for trajectory in group.trajectories}) == 1


@dataclass(frozen=True)
class Answers:
    """The number of answers in a trajectory, of Choices among them, and of Choices with log-probabilities."""

    num_answers: int
    num_choices: int
    num_with_logprobs: int


def warn_of_trajectories(groups: list[Group], config: RlConfig) -> Iterable[JobWarning]:
    counted = [count_answers(trajectory) for group in groups for trajectory in group.trajectories]
    answered = [answers for answers in counted if answers.num_answers]
    if silent := len(counted) - len(answered):
        share = describe_share(silent, len(counted), "trajectories")
        yield JobWarning("no_answers", f"{share} no answer of the model, so there is nothing to train on.")
    if not config.allow_training_without_logprobs:
        yield from warn_of_logprobs(answered, len(counted))


def count_answers(trajectory: Trajectory) -> Answers:
    """Only counts are kept: the values of all trajectories together take far more memory than the payload."""
    items = [item for history in trajectory.read_histories() for item in history.messages_and_choices]
    choices = [item for item in items if is_choice(item)]
    return Answers(sum(map(is_answer, items)), len(choices), sum(map(has_logprobs, choices)))


def warn_of_logprobs(answered: list[Answers], num_trajectories: int) -> Iterable[JobWarning]:
    """Warns of whole trajectories without log-probabilities, and of single choices of the others."""
    trainable = [answers for answers in answered if answers.num_with_logprobs]
    if missing := len(answered) - len(trainable):
        advice = "Keep the Choice objects of the completion in messages_and_choices."
        share = describe_share(missing, num_trajectories, "trajectories")
        yield JobWarning("missing_log_probabilities", f"{share} no log-probabilities. {advice}")
    num_choices = sum(answers.num_choices for answers in trainable)
    if bare := num_choices - sum(answers.num_with_logprobs for answers in trainable):
        share = describe_share(bare, num_choices, "choices in the other trajectories")
        yield JobWarning(
            "choices_without_log_probabilities", f"{share} no log-probabilities. They are used as context only."
        )


def warn_of_length(outcome: Outcome) -> Iterable[JobWarning]:
    if outcome.num_long:
        share = describe_share(outcome.num_long, outcome.num_fitting + outcome.num_long, "histories")
        yield JobWarning("too_long", f"{share} more than {outcome.limit} tokens, the base model's maxSequenceLength.")

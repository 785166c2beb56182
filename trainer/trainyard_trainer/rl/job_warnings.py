"""Counts the parts of an RL job's trajectories that cannot be trained on, to warn the client."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trainyard_trainer.data.json_input import is_choice
from trainyard_trainer.data.payload import Group, Trajectory
from trainyard_trainer.reports.job_warnings import JobWarning, describe_share, head_warnings
from trainyard_trainer.rl.advantages import Sample, are_equal
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.tokens.history import TurnReader
from trainyard_trainer.tokens.sampled import has_logprobs

# A warning names so many trajectories.
MAX_NAMED = 5


@dataclass(frozen=True)
class Outcome:
    """How many rows fit into `limit` tokens, those that are too long, and how many samples are trained on."""

    num_fitting: int
    long: Sequence[Sample]
    num_trained: int
    limit: int


def find_warnings(groups: list[Group], config: RlConfig, outcome: Outcome, reader: TurnReader) -> list[JobWarning]:
    """Empty if everything is trained on, and was sampled from the plain distribution."""
    found = [
        *warn_of_groups(groups),
        *warn_of_trajectories(groups, config),
        *warn_of_turns(reader),
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
    return bool(group.trajectories) and are_equal([trajectory.reward for trajectory in group.trajectories])


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


def is_answer(item: dict) -> bool:
    return is_choice(item) or item["role"] == "assistant"


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


def warn_of_turns(reader: TurnReader) -> Iterable[JobWarning]:
    if reader.num_truncated:
        number = reader.num_truncated
        share = describe_share(number, number + reader.num_turns, "answers")
        yield JobWarning(
            "truncated_answers", f"{share} reached the limit of its tokens. mask_truncated leaves them out."
        )
    if reader.num_undecodable:
        number = reader.num_undecodable
        share = describe_share(number, number + reader.num_turns, "answers")
        advice = "They are used as context only. Sample them through this service, or with return_token_ids."
        yield JobWarning("unknown_tokens", f"{share} tokens whose ids are not certain. {advice}")
    for sampling, number in reader.samplings.items():
        verb = "was" if number == 1 else "were"
        advice = "Training improves the policy at temperature 1, without top_p, top_k and min_p: sample with these."
        yield JobWarning(
            "far_from_sampler", f"{number} of {reader.num_turns} answers {verb} sampled with {sampling}. {advice}"
        )


def warn_of_length(outcome: Outcome) -> Iterable[JobWarning]:
    if outcome.long:
        share = describe_share(len(outcome.long), outcome.num_fitting + len(outcome.long), "rows")
        named = dict.fromkeys(f"trajectory_groups[{row.family}].trajectories[{row.trajectory}]" for row in outcome.long)
        shown = ", ".join(list(named)[:MAX_NAMED]) + (
            f", and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        )
        limit = f"more than {outcome.limit} tokens, the base model's maxSequenceLength or packed_sequence_length"
        yield JobWarning("too_long", f"{share} {limit}: {shown}.")

"""Turns trajectory groups into samples: tokens with their advantage and weight."""

from collections.abc import Sequence

import numpy as np

from trainyard_trainer import log
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.data.payload import Group, Trajectory
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.rl.advantages import Sample, compute_advantages, weigh_trajectory
from trainyard_trainer.rl.config import scales_advantages
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.tokens.history import Row, TurnReader, join_turns

# The limit for all rows of a job, which are in memory until it ends: a gigabyte.
MAX_JOB_TOKENS = 100_000_000


def build_samples(groups: list[Group], config: RlConfig, reader: TurnReader, max_length: int) -> list[Sample]:
    """Returns the samples that can be trained on. Groups of equal rewards have none."""
    samples: list[Sample] = []
    num_tokens = 0
    for index, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=scales_advantages(config))
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            if advantage != 0:
                found = build_trajectory(read_rows(trajectory, reader, max_length), advantage, index, number)
                num_tokens += sum(sample.num_tokens for sample in found)
                require_room(num_tokens)
                samples += found
    return samples


def require_room(num_tokens: int) -> None:
    if num_tokens > MAX_JOB_TOKENS:
        raise InvalidInput(
            f"The trajectories of the job have more than {MAX_JOB_TOKENS} tokens together. Send fewer in one job."
        )


def read_rows(trajectory: Trajectory, reader: TurnReader, max_length: int) -> list[tuple[int, Row]]:
    """The rows of a trajectory, each with the index of its history."""
    histories = trajectory.read_histories()
    return [
        (index, row)
        for index, history in enumerate(histories)
        for row in join_turns(reader.read(history, trajectory.where), max_length)
    ]


def build_trajectory(rows: Sequence[tuple[int, Row]], advantage: float, group: int, trajectory: int) -> list[Sample]:
    """All rows of a trajectory share its advantage and its weight."""
    examples = [(history, row, make_example(row.ids, row.trained, group)) for history, row in rows]
    weight = weigh_trajectory(sum(example.num_trained for *_, example in examples))
    return [
        Sample(
            example.ids,
            example.trained,
            group,
            trajectory,
            history,
            advantage,
            weight,
            np.asarray(row.logprobs[example.trained], np.float32),
        )
        for history, row, example in examples
        if example.num_trained
    ]


def separate_long(samples: list[Sample], max_length: int) -> tuple[list[Sample], list[Sample]]:
    """Separates the rows that are too long. Nothing is truncated."""
    long = [sample for sample in samples if sample.num_tokens > max_length]
    if long:
        log.warn("dropped rows that are too long", dropped=len(long), limit=max_length)
    return [sample for sample in samples if sample.num_tokens <= max_length], long

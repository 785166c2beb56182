"""Turns trajectory groups into samples: tokens with their advantage and weight."""

import numpy as np

from trainyard_trainer import log
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.data.payload import Group, Trajectory
from trainyard_trainer.job import Job
from trainyard_trainer.rl.advantages import Sample, compute_advantages, weigh_trajectory
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.tokens.history import TokenizedHistory, tokenize_history


def build_samples(groups: list[Group], config: RlConfig, job: Job) -> list[Sample]:
    """Returns the samples that can be trained on. Groups of equal rewards have none."""
    samples: list[Sample] = []
    for index, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=config.scale_rewards)
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            job.check()
            if advantage != 0:
                histories = tokenize_trajectory(trajectory, config, job)
                samples += build_trajectory(histories, advantage, index, number)
    return samples


def tokenize_trajectory(trajectory: Trajectory, config: RlConfig, job: Job) -> dict[int, TokenizedHistory]:
    """Tokenizes the histories that have something to train on, by index."""
    found = {
        index: tokenize_history(
            history, job.base.tokenizer, trajectory.where, without_logprobs=config.allow_training_without_logprobs
        )
        for index, history in enumerate(trajectory.read_histories())
    }
    return {index: history for index, history in found.items() if history is not None}


def build_trajectory(
    histories: dict[int, TokenizedHistory], advantage: float, group: int, trajectory: int
) -> list[Sample]:
    """All histories of a trajectory share its advantage and its weight."""
    examples = {index: make_example(history.ids, history.trained, group) for index, history in histories.items()}
    weight = weigh_trajectory(sum(example.num_trained for example in examples.values()))
    return [
        Sample(
            example.ids,
            example.trained,
            group,
            trajectory,
            index,
            advantage,
            weight,
            np.asarray(histories[index].logprobs, np.float32)[example.trained],
        )
        for index, example in examples.items()
        if example.num_trained
    ]


def separate_long(samples: list[Sample], max_length: int) -> tuple[list[Sample], list[Sample]]:
    """Separates the histories that are too long. Nothing is truncated."""
    long = [sample for sample in samples if sample.num_tokens > max_length]
    if long:
        log.warn("dropped histories that are too long", dropped=len(long), limit=max_length)
    return [sample for sample in samples if sample.num_tokens <= max_length], long

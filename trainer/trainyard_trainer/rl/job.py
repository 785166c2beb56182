"""A job of reinforcement learning, from its trajectories to its checkpoint; `run_rl_job` reads top to bottom."""

from dataclasses import replace
from statistics import fmean, pstdev

import numpy as np

from trainyard_trainer import log
from trainyard_trainer.compute.example import make_example
from trainyard_trainer.compute.optimizer import RL
from trainyard_trainer.compute.step import Numbers
from trainyard_trainer.data.payload import Group, Trajectory, parse_payload
from trainyard_trainer.job import Job
from trainyard_trainer.opened_model import OpenedModel, open_model, open_slot, read_checkpoint, score_under
from trainyard_trainer.rl.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.rl.config import RlConfig, parse_config
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.rl.packing import pack_sequences
from trainyard_trainer.rl.statistics import record_dropped, record_step
from trainyard_trainer.tokens.history import TokenizedHistory, tokenize_history


def run_rl_job(job: Job) -> None:
    """Trains and reports; raises Fenced, Leaving, a JobFailure or whatever broke."""
    config = parse_config(job.claim.config)
    groups = parse_payload(job.read_input(), job.check)
    samples = build_samples(groups, config, job)
    fitting, dropped = separate_long(samples, job.settings.max_sequence_length)
    normalized = normalize_samples(fitting, config.advantage_balance)
    constant = summarize_groups(groups) | {
        "num_dropped_trajectories": len({(sample.family, sample.trajectory) for sample in dropped}),
        "learning_rate": config.learning_rate,
    }
    with open_model(job, RL) as model, job.record_tokens() as recorder:
        scored = score_samples(model, normalized, config)
        sequences = pack_sequences(scored, job.settings.max_sequence_length, job.claim.id)
        steps = [build_step(sequence, config) for sequence in sequences]
        record_dropped(recorder, dropped)
        model.take_notes = recorder.list_sums
        model.resume()
        recorder.restore_sums(model.progress.notes)
        num_trained = sum(step.num_trained for step in steps)
        job.lease.report_start(len(steps), constant | {"num_trainable_tokens": num_trained})
        state = model.train(steps, constant, lambda taken: record_step(recorder, taken, sequences[taken.number - 1]))
        model.write_checkpoint(state, model.progress.average() or constant | {"num_trainable_tokens": 0})


def build_samples(groups: list[Group], config: RlConfig, job: Job) -> list[Sample]:
    """What can be trained on; groups of equal rewards give nothing."""
    samples: list[Sample] = []
    for place, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=config.scale_rewards)
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            job.check()
            if advantage != 0:
                where = f"trajectory_groups[{place}].trajectories[{number}]"
                histories = tokenize_trajectory(trajectory, config, job, where)
                samples += build_trajectory(histories, advantage, place, number)
    return samples


def tokenize_trajectory(trajectory: Trajectory, config: RlConfig, job: Job, where: str) -> dict[int, TokenizedHistory]:
    """By the place of each history that has something to train on."""
    found = {
        place: tokenize_history(
            history, job.base.tokenizer, where, without_logprobs=config.allow_training_without_logprobs
        )
        for place, history in enumerate(trajectory.histories)
    }
    return {place: history for place, history in found.items() if history is not None}


def build_trajectory(
    histories: dict[int, TokenizedHistory], advantage: float, group: int, trajectory: int
) -> list[Sample]:
    """All histories of a trajectory share its advantage and its weight."""
    examples = {place: make_example(history.ids, history.trained, group) for place, history in histories.items()}
    weight = weigh_trajectory(sum(example.num_trained for example in examples.values()))
    return [
        Sample(
            example.ids,
            example.trained,
            group,
            trajectory,
            place,
            advantage,
            weight,
            np.asarray(histories[place].logprobs, np.float32)[example.trained],
        )
        for place, example in examples.items()
        if example.num_trained
    ]


def separate_long(samples: list[Sample], max_length: int) -> tuple[list[Sample], list[Sample]]:
    """Those that are trained on, and those that are too long for it; nothing is cut."""
    long = [sample for sample in samples if sample.num_tokens > max_length]
    if long:
        log.warn("dropped histories that are too long", dropped=len(long), limit=max_length)
    return [sample for sample in samples if sample.num_tokens <= max_length], long


def score_samples(model: OpenedModel, samples: list[Sample], config: RlConfig) -> list[Sample]:
    """With the log-probabilities that the configuration wants besides the sampled ones."""
    if config.precalculate_logprobs:
        own = model.score(samples)
        samples = [
            replace(sample, old_logprobs=logprobs, original_logprobs=sample.old_logprobs)
            for sample, logprobs in zip(samples, own, strict=True)
        ]
    if config.kl_penalty_coef > 0:
        reference = score_reference(model.job, samples)
        samples = [
            replace(sample, reference_logprobs=logprobs) for sample, logprobs in zip(samples, reference, strict=True)
        ]
    return samples


def score_reference(job: Job, samples: list[Sample]) -> list[np.ndarray]:
    """Under the checkpoint that the penalty refers to; the base model where none is named."""
    if job.claim.reference is None:
        return score_under(job, None, samples)
    shape, state = read_checkpoint(job, job.claim.reference, RL.method)
    with open_slot(job, shape, state) as slot:
        return score_under(job, slot, samples)


def summarize_groups(groups: list[Group]) -> Numbers:
    """Numbers of the whole job, repeated in every gradient step; clients average them over the steps."""
    rewards = [[trajectory.reward for trajectory in group.trajectories] for group in groups]
    every = [reward for group in rewards for reward in group]
    return {
        "reward": fmean(every) if every else 0.0,
        "reward_std_dev": fmean([pstdev(group) for group in rewards if group]) if every else 0.0,
        "num_groups_submitted": len(groups),
        "num_groups_trainable": sum(len(set(group)) > 1 for group in rewards),
        "num_trajectories": len(every),
    }

"""A job of reinforcement learning, from its trajectories to its checkpoint; `run_rl_job` reads top to bottom."""

from functools import partial
from statistics import fmean, pstdev

from trainyard_trainer import log
from trainyard_trainer.compute.optimizer import RL
from trainyard_trainer.data.payload import Group, Trajectory, parse_payload
from trainyard_trainer.job import Job, Numbers, average_steps
from trainyard_trainer.rl.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.rl.config import RlConfig, parse_config
from trainyard_trainer.rl.packing import pack_sequences
from trainyard_trainer.rl.policy import precalculate_logprobs, train_sequence
from trainyard_trainer.tokens.history import TokenizedHistory, tokenize_history


def run_rl_job(job: Job) -> None:
    """Trains and reports; raises Fenced, a JobFailure or whatever broke."""
    config = parse_config(job.claim.config)
    groups = parse_payload(job.read_input(), job.lease.check)
    samples = build_samples(groups, config, job)
    sequences = pack_sequences(samples, job.settings.max_sequence_length, job.claim.id)
    totals = summarize_groups(groups) | {"learning_rate": config.learning_rate}
    num_trained = sum(sample.tokens.num_trained for sample in samples)
    check = job.lease.check
    with job.open_model(RL) as (model, optimizer):
        if config.precalculate_logprobs:
            sequences = [precalculate_logprobs(model, sequence, check) for sequence in sequences]
        job.report_start(len(sequences), totals | {"num_trainable_tokens": num_trained})
        train = partial(train_sequence, model, optimizer, config=config, check=check)
        steps = job.take_steps(sequences, lambda sequence: totals | train(sequence))
        metrics = average_steps(steps) if steps else totals | {"num_trainable_tokens": 0}
        job.write_checkpoint(model, optimizer, RL, metrics)


def build_samples(groups: list[Group], config: RlConfig, job: Job) -> list[Sample]:
    """What can be trained on, normalized over the job; groups of equal rewards give nothing."""
    samples: list[Sample] = []
    for place, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=config.scale_rewards)
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            job.lease.check()
            if advantage != 0:
                histories = tokenize_trajectory(trajectory, job, f"trajectory_groups[{place}].trajectories[{number}]")
                weight = weigh_trajectory(histories)
                samples += [Sample(history, place, advantage, weight) for history in histories]
    return normalize_samples(drop_long(samples, job.settings.max_sequence_length), config.advantage_balance)


def tokenize_trajectory(trajectory: Trajectory, job: Job, where: str) -> list[TokenizedHistory]:
    found = (tokenize_history(history, job.base.tokenizer, where) for history in trajectory.histories)
    return [history for history in found if history]


def drop_long(samples: list[Sample], max_length: int) -> list[Sample]:
    fitting = [sample for sample in samples if len(sample.tokens.ids) <= max_length]
    if len(fitting) < len(samples):
        log.warn("dropped histories that are too long", dropped=len(samples) - len(fitting), limit=max_length)
    return fitting


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

"""One RL job from its payload to its checkpoint; the stages read from top to bottom in `run_job`."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev

from peft import PeftModel
from torch.optim import AdamW

from trainyard_artifacts.addresses import ArtifactError
from trainyard_artifacts.checkpoints import OPTIMIZER_STATE, fetch_checkpoint, write_checkpoint
from trainyard_artifacts.store import ArtifactStore, open_store
from trainyard_trainer import log
from trainyard_trainer.adapter import Base, open_adapter, save_adapter
from trainyard_trainer.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.claims import Claim, Lease
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.optimizer import build_optimizer, save_optimizer
from trainyard_trainer.payload import Group, Trajectory, parse_payload
from trainyard_trainer.policy import precalculate_logprobs, train_sequence
from trainyard_trainer.rl_config import RlConfig, parse_config
from trainyard_trainer.sequences import pack_sequences
from trainyard_trainer.tokenize import TokenizedHistory, tokenize_history

# Flat numbers, as clients read them: each value goes through float().
Numbers = dict[str, float]


def run_job(claim: Claim, lease: Lease, base: Base, settings: Settings) -> None:
    """Trains and reports; raises Fenced, a JobFailure or whatever broke."""
    store = open_store(settings.artifacts)
    config = parse_config(claim.config)
    groups = parse_payload(read_payload(store, claim))
    samples = build_samples(groups, base, config, settings.max_sequence_length)
    sequences = pack_sequences(samples, settings.max_sequence_length, claim.id)
    totals = summarize_groups(groups) | {"learning_rate": config.learning_rate}
    checkpoint = fetch_start(store, claim)
    with open_adapter(base, settings.lora, checkpoint) as model:
        optimizer = build_optimizer(model, config.learning_rate, checkpoint)
        if config.precalculate_logprobs:
            sequences = [precalculate_logprobs(model, sequence, base.device) for sequence in sequences]
        lease.post_event(0, "training_started", describe_start(totals, sequences))
        train = partial(train_sequence, model, optimizer, config=config, device=base.device)
        steps = take_steps(sequences, train, totals, lease)
        uri, digest = write_checkpoint(store, claim.checkpoint_id, partial(save_state, model, optimizer, base.name))
    lease.post_checkpoint(uri, digest, average_steps(steps) if steps else totals | {"num_trainable_tokens": 0})


def take_steps(
    sequences: list[list[Sample]], train: Callable[[list[Sample]], Numbers], totals: Numbers, lease: Lease
) -> list[Numbers]:
    """One gradient_step event per sequence, as soon as it was taken. Gives their numbers."""
    steps: list[Numbers] = []
    for number, sequence in enumerate(sequences, start=1):
        lease.check()
        started = time.monotonic()
        step = train(sequence)
        step["tokens_per_second"] = step["num_trainable_tokens"] / (time.monotonic() - started)
        steps.append(totals | step)
        lease.post_event(number, "gradient_step", steps[-1])
    lease.check()
    return steps


def save_state(model: PeftModel, optimizer: AdamW, base_name: str, folder: Path) -> None:
    save_adapter(model, base_name, folder)
    save_optimizer(optimizer, model, folder)


def describe_start(totals: Numbers, sequences: list[list[Sample]]) -> Numbers:
    samples = [sample for sequence in sequences for sample in sequence]
    num_trained = sum(sample.tokens.num_trained for sample in samples)
    return totals | {"num_sequences": len(sequences), "num_trainable_tokens": num_trained}


def read_payload(store: ArtifactStore, claim: Claim) -> bytes:
    try:
        return store.read(claim.input.uri, claim.input.digest)
    except ArtifactError as cause:
        raise InvalidInput(f"The input cannot be trained on: {cause}.", "InputUnusable") from cause


def fetch_start(store: ArtifactStore, claim: Claim) -> Path | None:
    """The folder to start from, verified; None for a model's first job."""
    start = claim.from_checkpoint
    return fetch_checkpoint(store, start.uri, start.digest, [OPTIMIZER_STATE]) if start else None


def build_samples(groups: list[Group], base: Base, config: RlConfig, max_length: int) -> list[Sample]:
    """What can be trained on, normalized over the job; groups of equal rewards give nothing."""
    samples: list[Sample] = []
    for place, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=config.scale_rewards)
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            if advantage != 0:
                histories = tokenize_trajectory(trajectory, base, f"trajectory_groups[{place}].trajectories[{number}]")
                weight = weigh_trajectory(histories)
                samples += [Sample(history, place, advantage, weight) for history in histories]
    fitting = [sample for sample in samples if len(sample.tokens.ids) <= max_length]
    if len(fitting) < len(samples):
        log.warn("dropped histories that are too long", dropped=len(samples) - len(fitting), limit=max_length)
    return normalize_samples(fitting, config.advantage_balance)


def tokenize_trajectory(trajectory: Trajectory, base: Base, where: str) -> list[TokenizedHistory]:
    found = (tokenize_history(history, base.tokenizer, where) for history in trajectory.histories)
    return [history for history in found if history]


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


def average_steps(steps: list[Numbers]) -> Numbers:
    return {name: fmean(step[name] for step in steps) for name in steps[0]}

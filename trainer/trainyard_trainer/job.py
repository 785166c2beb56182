"""One RL job from its payload to its checkpoint; the stages read from top to bottom in `run_job`."""

import time
from pathlib import Path
from statistics import fmean, pstdev

from trainyard_artifacts.checkpoints import OPTIMIZER_STATE, SERVED_FILES, verify_checkpoint, write_checkpoint
from trainyard_artifacts.store import ArtifactError, ArtifactStore
from trainyard_trainer import log
from trainyard_trainer.adapter import Base, open_adapter, save_adapter
from trainyard_trainer.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.claims import Claim, Lease
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.optimizer import build_optimizer, save_optimizer
from trainyard_trainer.payload import Group, parse_payload
from trainyard_trainer.policy import precalculate_logprobs, train_sequence
from trainyard_trainer.rl_config import RlConfig, parse_config
from trainyard_trainer.sequences import pack_sequences
from trainyard_trainer.tokenize import tokenize_history


def run_job(claim: Claim, lease: Lease, base: Base, settings: Settings) -> None:
    """Trains and reports; raises Fenced, a JobFailure or whatever broke."""
    store = ArtifactStore(settings.artifacts)
    config = parse_config(claim.config)
    groups = parse_payload(read_payload(store, claim))
    samples = build_samples(groups, base, config, settings.max_sequence_length)
    sequences = pack_sequences(samples, settings.max_sequence_length, claim.id)
    totals = summarize_groups(groups) | {"learning_rate": config.learning_rate}
    start = {"num_sequences": len(sequences), "num_trainable_tokens": count_trained(samples)}
    checkpoint = locate_checkpoint(store, claim)
    with open_adapter(base, settings.lora, checkpoint) as model:
        optimizer = build_optimizer(model, config.learning_rate, checkpoint)
        if config.precalculate_logprobs:
            sequences = [precalculate_logprobs(model, sequence, base.device) for sequence in sequences]
        lease.post_event(0, "training_started", totals | start)
        steps = []
        for number, sequence in enumerate(sequences, start=1):
            lease.check()
            started = time.monotonic()
            step = train_sequence(model, optimizer, sequence, config, base.device)
            step["tokens_per_second"] = step["num_trainable_tokens"] / max(time.monotonic() - started, 1e-6)
            steps.append(totals | step)
            lease.post_event(number, "gradient_step", steps[-1])

        def write_files(folder: Path) -> None:
            save_adapter(model, base.name, folder)
            save_optimizer(optimizer, model, folder)

        lease.check()
        uri, digest = write_checkpoint(store, claim.checkpoint_id, claim.attempt, write_files)
    lease.post_checkpoint(uri, digest, average_steps(steps) if steps else totals | {"num_trainable_tokens": 0})


def read_payload(store: ArtifactStore, claim: Claim) -> bytes:
    try:
        return store.read(claim.input.uri, claim.input.digest)
    except ArtifactError as cause:
        raise InvalidInput(f"The input cannot be trained on: {cause}.", "InputUnusable") from cause


def locate_checkpoint(store: ArtifactStore, claim: Claim) -> Path | None:
    """The folder to start from, verified; None for a model's first job."""
    if claim.from_checkpoint is None:
        return None
    folder = store.locate(claim.from_checkpoint.uri)
    kept = [OPTIMIZER_STATE] if (folder / OPTIMIZER_STATE).exists() else []
    verify_checkpoint(folder, [*SERVED_FILES, *kept], claim.from_checkpoint.digest)
    return folder


def build_samples(groups: list[Group], base: Base, config: RlConfig, max_length: int) -> list[Sample]:
    """What can be trained on, normalized over the job; groups of equal rewards give nothing."""
    samples: list[Sample] = []
    for place, group in enumerate(groups):
        rewards = [trajectory.reward for trajectory in group.trajectories]
        advantages = compute_advantages(rewards, scale=config.scale_rewards)
        for number, (trajectory, advantage) in enumerate(zip(group.trajectories, advantages, strict=True)):
            if advantage == 0:
                continue
            where = f"trajectory_groups[{place}].trajectories[{number}]"
            found = [tokenize_history(history, base.tokenizer, where) for history in trajectory.histories]
            histories = [history for history in found if history]
            weight = weigh_trajectory(histories)
            samples += [Sample(history, place, advantage, weight) for history in histories]
    fitting = [sample for sample in samples if len(sample.tokens.ids) <= max_length]
    if len(fitting) < len(samples):
        log.warn("dropped histories that are too long", dropped=len(samples) - len(fitting), limit=max_length)
    return normalize_samples(fitting, config.advantage_balance)


def count_trained(samples: list[Sample]) -> int:
    return sum(sample.tokens.num_trained for sample in samples)


def summarize_groups(groups: list[Group]) -> dict[str, float]:
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


def average_steps(steps: list[dict[str, float]]) -> dict[str, float]:
    return {name: fmean(step[name] for step in steps) for name in steps[0]}

"""A job of reinforcement learning, from its trajectories to its checkpoint; `run_rl_job` reads top to bottom."""

from statistics import fmean, pstdev

from trainyard_trainer.compute.rows.step import Numbers
from trainyard_trainer.data.payload import Group, Payload, parse_payload
from trainyard_trainer.job import Job
from trainyard_trainer.rl.advantages import Sample, normalize_samples
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.job_warnings import Outcome, find_warnings
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.rl.packing import pack_sequences
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.rl.samples import build_samples, separate_long
from trainyard_trainer.rl.scoring import score_sequences
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.rl.statistics import StepObserver, record_dropped
from trainyard_trainer.session import open_session
from trainyard_trainer.tokens.history import TurnReader


def run_rl_job(job: Job) -> None:
    """Trains and reports. Raises Fenced, ShuttingDown, a JobFailure or any unexpected exception."""
    config = parse_config(job.claim.config)
    max_length = min(
        job.settings.max_sequence_length, config.packed_sequence_length or job.settings.max_sequence_length
    )
    groups = parse_payload(job.read_input(), Payload(job.check, job.claim.is_of_model))
    reader = make_reader(config, job)
    fitting, dropped = separate_long(build_samples(groups, config, reader, max_length), max_length)
    normalized = normalize_samples(fitting, config.advantage_balance)
    constant = summarize(groups, normalized, dropped, config)
    warnings = find_warnings(groups, config, Outcome(len(fitting), dropped, len(normalized), max_length), reader)
    with open_session(job, RL) as model, job.record_tokens() as recorder:
        sequences = pack_sequences(normalized, max_length, job.claim.id, config.packed_sequence_length)
        sequences = score_sequences(model, sequences, config)
        steps = [build_step(sequence, config) for sequence in sequences]
        record_dropped(recorder, dropped)
        observer = StepObserver(recorder, sequences)
        model.resume(steps, observer.restore, observer.save)
        num_trained = sum(step.num_trained for step in steps)
        numbers = constant | {"num_trainable_tokens": num_trained}
        job.lease.report_start(len(steps), numbers, [*warnings, *model.warn_of_layers()])
        state = model.train(steps, constant, observer.observe)
        metrics = model.progress.average() or constant | {"num_trainable_tokens": 0}
        far = observer.distance.find_warnings(job.base.model.dtype)
        model.write_checkpoint(state, metrics | observer.distance.numbers, far)


def make_reader(config: RlConfig, job: Job) -> TurnReader:
    return TurnReader(
        job.base.tokenizer,
        without_logprobs=config.allow_training_without_logprobs,
        mask_truncated=config.mask_truncated,
        check=job.check,
    )


def summarize(groups: list[Group], trained: list[Sample], dropped: list[Sample], config: RlConfig) -> Numbers:
    """Numbers of the whole job, repeated in every gradient step, because clients average them over the steps."""
    rewards = [[trajectory.reward for trajectory in group.trajectories] for group in groups]
    every = [reward for group in rewards for reward in group]
    return {
        "reward": fmean(every) if every else 0.0,
        "reward_std_dev": fmean([pstdev(group) for group in rewards if group]) if every else 0.0,
        "num_groups_submitted": len(groups),
        "num_groups_trainable": len({sample.family for sample in trained}),
        "num_trajectories": len(every),
        "num_dropped_trajectories": len({(sample.family, sample.trajectory) for sample in dropped}),
        "learning_rate": config.learning_rate,
    }

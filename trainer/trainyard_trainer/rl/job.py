"""A job of reinforcement learning, from its trajectories to its checkpoint; `run_rl_job` reads top to bottom."""

from statistics import fmean, pstdev

from trainyard_trainer.compute.model.optimizer import RL
from trainyard_trainer.compute.rows.step import Numbers
from trainyard_trainer.data.payload import Group, parse_payload
from trainyard_trainer.job import Job
from trainyard_trainer.rl.advantages import Sample, normalize_samples
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.job_warnings import Outcome, find_warnings
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.rl.packing import pack_sequences
from trainyard_trainer.rl.samples import build_samples, separate_long
from trainyard_trainer.rl.scoring import score_samples
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.rl.statistics import record_dropped, record_step
from trainyard_trainer.session import open_session


def run_rl_job(job: Job) -> None:
    """Trains and reports. Raises Fenced, ShuttingDown, a JobFailure or any unexpected exception."""
    config, max_length = parse_config(job.claim.config), job.settings.max_sequence_length
    groups = parse_payload(job.read_input(), job.check)
    fitting, dropped = separate_long(build_samples(groups, config, job), max_length)
    normalized = normalize_samples(fitting, config.advantage_balance)
    constant = summarize(groups, normalized, dropped, config)
    warnings = find_warnings(groups, config, Outcome(len(fitting), len(dropped), len(normalized), max_length))
    with open_session(job, RL) as model, job.record_tokens() as recorder:
        sequences = pack_sequences(score_samples(model, normalized, config), max_length, job.claim.id)
        steps = [build_step(sequence, config) for sequence in sequences]
        record_dropped(recorder, dropped)
        model.resume(steps, recorder.restore_sums, recorder.list_sums)
        num_trained = sum(step.num_trained for step in steps)
        numbers = constant | {"num_trainable_tokens": num_trained}
        job.lease.report_start(len(steps), numbers, [*warnings, *model.warn_of_layers()])
        state = model.train(steps, constant, lambda report: record_step(recorder, report, sequences[report.number - 1]))
        model.write_checkpoint(state, model.progress.average() or constant | {"num_trainable_tokens": 0})


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

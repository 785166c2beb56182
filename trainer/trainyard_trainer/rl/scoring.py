"""Additional log-probabilities of a job: the model's own, and those of a reference policy."""

from dataclasses import replace

import numpy as np

from trainyard_trainer.job import Job
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.session import TrainingSession, open_slot, read_checkpoint, score_under


def score_sequences(model: TrainingSession, sequences: list[list[Sample]], config: RlConfig) -> list[list[Sample]]:
    """Adds the log-probabilities that the configuration requires."""
    if config.precalculate_logprobs:
        sequences = precalculate(model, sequences)
    if config.kl_penalty_coef > 0:
        samples = flatten(sequences)
        scored = iter(score_reference(model.job, samples))
        sequences = [[replace(sample, reference_logprobs=next(scored)) for sample in each] for each in sequences]
    return sequences


def precalculate(model: TrainingSession, sequences: list[list[Sample]]) -> list[list[Sample]]:
    """The model's own log-probabilities take the place of the sampled ones.

    Those of the first sequence are left unknown: its step computes them before it changes the model, so that their
    ratios are exactly 1.
    """
    own = iter(model.score(flatten(sequences[1:])))
    unknown = [[np.full(sample.num_trained, np.nan, np.float32) for sample in each] for each in sequences[:1]]
    known = unknown + [[next(own) for _ in each] for each in sequences[1:]]
    return [
        [
            replace(sample, old_logprobs=logprobs, original_logprobs=sample.old_logprobs)
            for sample, logprobs in zip(each, found, strict=True)
        ]
        for each, found in zip(sequences, known, strict=True)
    ]


def flatten(sequences: list[list[Sample]]) -> list[Sample]:
    return [sample for each in sequences for sample in each]


def score_reference(job: Job, samples: list[Sample]) -> list[np.ndarray]:
    """Under the checkpoint that is the reference of the penalty. Without one, under the base model."""
    if job.claim.reference is None:
        return score_under(job, None, samples)
    shape, state = read_checkpoint(job, job.claim.reference, RL.method)
    with open_slot(job, shape, state) as slot:
        return score_under(job, slot, samples)

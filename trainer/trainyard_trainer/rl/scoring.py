"""Additional log-probabilities of a job: the model's own, and those of a reference policy."""

from dataclasses import replace

import numpy as np

from trainyard_trainer.compute.model.optimizer import RL
from trainyard_trainer.job import Job
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.settings import RlConfig
from trainyard_trainer.session import TrainingSession, open_slot, read_checkpoint, score_under


def score_samples(model: TrainingSession, samples: list[Sample], config: RlConfig) -> list[Sample]:
    """Adds the log-probabilities that the configuration requires."""
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
    """Under the checkpoint that is the reference of the penalty. Without one, under the base model."""
    if job.claim.reference is None:
        return score_under(job, None, samples)
    shape, state = read_checkpoint(job, job.claim.reference, RL.method)
    with open_slot(job, shape, state) as slot:
        return score_under(job, slot, samples)

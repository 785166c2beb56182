"""How far the policy that a job trains is from the one that its answers were sampled from.

Before the first optimizer step, both are the same model, if the answers were sampled from the checkpoint that the job
begins with, in the same context and from the plain distribution. Then their log-probabilities differ only by the
rounding of two implementations. A larger difference says that a job trains on something else than what it sampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from trainyard_trainer.compute.rows.step import Columns, Numbers
from trainyard_trainer.reports.job_warnings import JobWarning
from trainyard_trainer.rl.advantages import Sample

# An impossible token is reported as -9999, which would hide all others in a mean. In nats.
MAX_DIFFERENCE = 20.0
# The mean difference of an answer's tokens, in nats, above which a job is far from its sampler. Two implementations in
# float32 differ by less than 0.001. In bfloat16, the rounding of deep models reaches some hundredths.
FAR_MEANS = {torch.float32: 0.02, torch.bfloat16: 0.1, torch.float16: 0.1}
MEAN, MAXIMUM = "sampler_logprob_mean_diff", "sampler_logprob_max_diff"


@dataclass
class SamplerDistance:
    """The numbers of the first step of a job, which an interrupted job keeps."""

    numbers: Numbers = field(default_factory=dict)

    def measure(self, samples: Sequence[Sample], columns: Sequence[Columns]) -> Numbers:
        """The mean and the largest |log p_trainer - log p_sampler| over the tokens of a step. Empty if no token has a
        sampled log-probability."""
        sampled = np.concatenate([find_sampled(sample) for sample in samples])
        own = np.concatenate([column["logprob"] for column in columns])
        differences = np.minimum(np.abs(own - sampled)[np.isfinite(sampled)], MAX_DIFFERENCE)
        if len(differences):
            self.numbers = {MEAN: float(differences.mean()), MAXIMUM: float(differences.max())}
        return self.numbers

    def find_warnings(self, dtype: torch.dtype) -> list[JobWarning]:
        limit = FAR_MEANS[dtype]
        if self.numbers.get(MEAN, 0.0) <= limit:
            return []
        message = (
            f"The log-probabilities of the answers differ from those of the checkpoint that training began with by "
            f"{self.numbers[MEAN]:.3g} nats a token, where {limit:g} is the limit. Sample from the newest step, with "
            "temperature 1, and send the prompts' ids back (docs/jobs.md)."
        )
        return [JobWarning("far_from_sampler", message)]


def find_sampled(sample: Sample) -> np.ndarray:
    """The log-probabilities [n] that the sampler reported."""
    return sample.old_logprobs if sample.original_logprobs is None else sample.original_logprobs

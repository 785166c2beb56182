"""Passes the columns of a job's steps to the recorder of its token statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trainyard_trainer.compute.rows.step import Columns, Numbers
from trainyard_trainer.compute.scheduling.training_run import StepReport
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.distance import SamplerDistance
from trainyard_trainer.statistics.recorder import TokenRecorder
from trainyard_trainer.statistics.tokens import HistoryIndex, TokenStatistics


@dataclass
class StepObserver:
    """Observes the steps of a job, of which each has the samples of one sequence."""

    recorder: TokenRecorder
    sequences: Sequence[Sequence[Sample]]
    distance: SamplerDistance = field(default_factory=SamplerDistance)

    def observe(self, report: StepReport) -> Numbers:
        """Returns further numbers of the step."""
        samples = self.sequences[report.number - 1]
        record_step(self.recorder, report, samples)
        return self.distance.measure(samples, report.columns) if report.number == 1 else {}

    def save(self) -> dict:
        """The argument of `restore`, as JSON."""
        return {"pushes": self.recorder.list_sums(), "distance": self.distance.numbers}

    def restore(self, saved: dict) -> None:
        self.recorder.restore_sums(saved["pushes"])
        self.distance.numbers = saved["distance"]


def record_step(recorder: TokenRecorder, report: StepReport, samples: Sequence[Sample]) -> None:
    for sample, columns in zip(samples, report.columns, strict=True):
        if recorder.keeps(sample.family, sample.trajectory):
            recorder.add(report.number, locate(sample), describe(sample, columns))
        else:
            recorder.add_push(locate(sample), columns["coefficient"])


def record_dropped(recorder: TokenRecorder, samples: list[Sample]) -> None:
    for sample in samples:
        recorder.add_dropped(locate(sample), *list_tokens(sample), sample.old_logprobs)


def locate(sample: Sample) -> HistoryIndex:
    return HistoryIndex(sample.family, sample.trajectory, sample.history)


def list_tokens(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Positions and ids of the trained tokens."""
    positions = np.flatnonzero(sample.trained)
    return positions.astype(np.int32), sample.ids[positions].astype(np.int32)


def describe(sample: Sample, columns: Columns) -> TokenStatistics:
    positions, ids = list_tokens(sample)
    old = sample.old_logprobs
    if sample.original_logprobs is not None:  # where the model's own are still unknown, this step computes them
        old = np.where(np.isnan(old), columns["logprob"], old)
    return TokenStatistics(
        positions,
        ids,
        old,
        columns["logprob"],
        columns["ratio"],
        columns["coefficient"],
        columns["entropy"],
        columns["flags"],
    )

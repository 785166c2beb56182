"""Passes the columns of a job's steps to the recorder of its token statistics."""

import numpy as np

from trainyard_trainer.compute.rows.step import Columns
from trainyard_trainer.compute.scheduling.training_run import StepReport
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.statistics.recorder import TokenRecorder
from trainyard_trainer.statistics.tokens import HistoryIndex, TokenStatistics


def record_step(recorder: TokenRecorder, report: StepReport, samples: list[Sample]) -> None:
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
    return TokenStatistics(
        positions,
        ids,
        sample.old_logprobs,
        columns["logprob"],
        columns["ratio"],
        columns["coefficient"],
        columns["entropy"],
        columns["flags"],
    )

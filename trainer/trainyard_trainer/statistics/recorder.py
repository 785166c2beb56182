"""Collects the effect of a job's gradient steps on each token, for the file, and on each trajectory, for its push."""

import tempfile
from collections import defaultdict
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trainyard_trainer import log
from trainyard_trainer.statistics.sampling import is_kept
from trainyard_trainer.statistics.token_file import Recorded, TokenFile
from trainyard_trainer.statistics.tokens import HistoryIndex, TokenStatistics, describe_dropped

# The tokens of a row group: about 5 MB before it is written, which is enough to compress well.
ROW_GROUP_TOKENS = 131_072


class TokenRecorder:
    """The recorder of one attempt at a job. One thread uses it at a time. Memory is limited by a row group and by the
    trajectories.

    Errors of the file never reach the job. They are logged once, and the file is dropped.
    """

    def __init__(self, job_id: str, mode: str) -> None:
        self.job_id = job_id
        self.mode = mode
        self.file: TokenFile | None = None
        self.is_broken = False
        self.waiting: list[Recorded] = []
        self.num_waiting = 0
        # By group and trajectory: the sum of the coefficients' absolute values, and the sum of the coefficients.
        self.sums: defaultdict[tuple[int, int], NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))

    def keeps(self, group: int, trajectory: int) -> bool:
        """Whether this trajectory's tokens go into the file. Others only need `add_push`."""
        return not self.is_broken and is_kept(self.mode, self.job_id, group, trajectory)

    def add(self, step: int, history: HistoryIndex, tokens: TokenStatistics) -> None:
        """Adds the trained tokens of a history in one gradient step (counted from 1), and their push."""
        self.add_push(history, tokens.coefficients)
        self.keep(Recorded(step, history, tokens))

    def add_push(self, history: HistoryIndex, coefficients: NDArray[np.float32]) -> None:
        """Adds only the push: d loss / d log-probability [N], with weights and divisor."""
        exact = coefficients.astype(np.float64)
        self.sums[history.group, history.trajectory] += (np.abs(exact).sum(), exact.sum())

    def add_dropped(
        self,
        history: HistoryIndex,
        positions: NDArray[np.int32],
        ids: NDArray[np.int32],
        old_logprobs: NDArray[np.float32],
    ) -> None:
        """Adds the tokens [N] of a history that was too long to be trained on. Other histories of its trajectory may be
        trained on."""
        self.keep(Recorded(None, history, describe_dropped(positions, ids, old_logprobs)))

    def list_sums(self) -> dict[str, list[float]]:
        """The argument of `restore_sums`, as JSON."""
        return {f"{group}/{trajectory}": sums.tolist() for (group, trajectory), sums in self.sums.items()}

    def restore_sums(self, saved: dict[str, list[float]]) -> None:
        """Adds the counts of an earlier attempt, up to the step from which this one continues."""
        for history, sums in saved.items():
            group, trajectory = map(int, history.split("/"))
            self.sums[group, trajectory] += sums

    def pushes(self) -> dict[str, float]:
        """By "group/trajectory": the sum of |coefficient|, positive if the trajectory was made more likely."""
        return {
            f"{group}/{trajectory}": float(-size if total > 0 else size)
            for (group, trajectory), (size, total) in self.sums.items()
        }

    def finish(self) -> BinaryIO | None:
        """The finished file. None if nothing was kept, or if it could not be written."""
        self.write_waiting()
        if self.file is None or self.is_broken:
            return None
        try:
            self.file.finish()
        except Exception as cause:
            self.give_up(cause)
            return None
        return self.file.file

    def discard(self) -> None:
        """Frees the disk space and memory."""
        self.waiting.clear()
        if self.file is not None:
            self.file.file.close()

    def keep(self, recorded: Recorded) -> None:
        if len(recorded.tokens.ids) == 0 or not self.keeps(recorded.history.group, recorded.history.trajectory):
            return
        self.waiting.append(recorded)
        self.num_waiting += len(recorded.tokens.ids)
        if self.num_waiting >= ROW_GROUP_TOKENS:
            self.write_waiting()

    def write_waiting(self) -> None:
        if not self.waiting or self.is_broken:
            return
        try:
            self.open_file().write(self.waiting)
        except Exception as cause:
            self.give_up(cause)
        self.waiting = []
        self.num_waiting = 0

    def open_file(self) -> TokenFile:
        if self.file is None:
            # The file has no name, so that nothing is left after a kill.
            self.file = TokenFile(tempfile.TemporaryFile(), self.job_id, self.mode)  # noqa: SIM115
        return self.file

    def give_up(self, cause: Exception) -> None:
        self.is_broken = True
        log.warn("token statistics cannot be written", job=self.job_id, error=f"{type(cause).__name__}: {cause}")

"""Gathers what a job's gradient steps did to each token, for its file, and to each trajectory, for its push."""

import tempfile
from collections import defaultdict
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trainyard_trainer import log
from trainyard_trainer.statistics.sampling import is_kept
from trainyard_trainer.statistics.token_file import Recorded, TokenFile
from trainyard_trainer.statistics.tokens import HistoryIndex, TokenStatistics, describe_dropped

# Tokens of a row group, about 5 MB before it is written: enough to compress well.
ROW_GROUP_TOKENS = 131_072


class TokenRecorder:
    """Of one attempt at a job. Used by one thread at a time; memory is bounded by a row group and by the trajectories.

    Nothing that goes wrong with the file reaches the job: it is logged once, and there is no file then.
    """

    def __init__(self, job_id: str, mode: str) -> None:
        self.job_id = job_id
        self.mode = mode
        self.file: TokenFile | None = None
        self.is_broken = False
        self.waiting: list[Recorded] = []
        self.num_waiting = 0
        # By group and trajectory: the sum of the coefficients' magnitudes, and the sum of the coefficients.
        self.sums: defaultdict[tuple[int, int], NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))

    def keeps(self, group: int, trajectory: int) -> bool:
        """Whether this trajectory's tokens go into the file; of the others `add_push` is enough."""
        return not self.is_broken and is_kept(self.mode, self.job_id, group, trajectory)

    def add(self, step: int, history: HistoryIndex, tokens: TokenStatistics) -> None:
        """The trained tokens of a history in one gradient step (counted from 1), and their push."""
        self.add_push(history, tokens.coefficients)
        self.keep(Recorded(step, history, tokens))

    def add_push(self, history: HistoryIndex, coefficients: NDArray[np.float32]) -> None:
        """The same without the tokens: d loss / d log-probability [N], weights and divisor included."""
        exact = coefficients.astype(np.float64)
        self.sums[history.group, history.trajectory] += (np.abs(exact).sum(), exact.sum())

    def add_dropped(
        self,
        history: HistoryIndex,
        positions: NDArray[np.int32],
        ids: NDArray[np.int32],
        old_logprobs: NDArray[np.float32],
    ) -> None:
        """The tokens [N] of a history that was too long to be trained on; its trajectory may have others that were."""
        self.keep(Recorded(None, history, describe_dropped(positions, ids, old_logprobs)))

    def list_sums(self) -> dict[str, list[float]]:
        """The argument of `restore_sums`, as JSON."""
        return {f"{group}/{trajectory}": sums.tolist() for (group, trajectory), sums in self.sums.items()}

    def restore_sums(self, saved: dict[str, list[float]]) -> None:
        """Adds what an earlier attempt at the job had counted up to the step where this one continues."""
        for history, sums in saved.items():
            group, trajectory = map(int, history.split("/"))
            self.sums[group, trajectory] += sums

    def pushes(self) -> dict[str, float]:
        """By "group/trajectory": sum of |coefficient|, positive for what was made likelier."""
        return {
            f"{group}/{trajectory}": float(-size if total > 0 else size)
            for (group, trajectory), (size, total) in self.sums.items()
        }

    def finish(self) -> BinaryIO | None:
        """The finished file, or None without one: nothing was kept, or it could not be written."""
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
        """Gives the room back, on disk and in memory."""
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
            # It has no name, so that nothing of it stays when the process is killed.
            self.file = TokenFile(tempfile.TemporaryFile(), self.job_id, self.mode)  # noqa: SIM115
        return self.file

    def give_up(self, cause: Exception) -> None:
        self.is_broken = True
        log.warn("token statistics cannot be written", job=self.job_id, error=f"{type(cause).__name__}: {cause}")

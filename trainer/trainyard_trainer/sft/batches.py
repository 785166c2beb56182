"""Batches of rows: one for each optimizer step."""

from collections.abc import Iterator, Sequence

from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.sft.config import list_rates
from trainyard_trainer.sft.objective import SftObjective
from trainyard_trainer.sft.settings import SftConfig
from trainyard_trainer.sft.spooled_rows import SpooledRows


class SftSteps:
    """Batches of rows in order. The last one may be short. A step is built when it is read. The last step is kept,
    because it is read often while it is computed.

    Rows that are too long are left out of their batch. Other rows stay in theirs. A batch without a trained token makes
    no step, and takes no learning rate from a list, as in ART.
    """

    def __init__(self, rows: Sequence[Example] | SpooledRows, config: SftConfig, max_length: int) -> None:
        self.rows = rows
        self.batch_size = config.batch_size
        self.max_length = max_length
        self.starts = [start for start in range(0, len(rows), config.batch_size) if self.is_trained(start)]
        self.rates = list_rates(config, len(self.starts))
        self.latest: tuple[int, Step] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Step:
        latest = self.latest
        if latest is None or latest[0] != index:
            latest = self.latest = (index, self.build(index))
        return latest[1]

    def __iter__(self) -> Iterator[Step]:
        return (self[index] for index in range(len(self)))

    def is_trained(self, start: int) -> bool:
        return any(row.num_trained and row.num_tokens <= self.max_length for row in self.read_batch(start))

    def build(self, index: int) -> Step:
        return build_step([*self.read_batch(self.starts[index])], self.rates[index], self.max_length)

    def read_batch(self, start: int) -> Iterator[Example]:
        return (self.rows[number] for number in range(start, min(start + self.batch_size, len(self.rows))))


def build_step(batch: Sequence[Example], learning_rate: float, max_length: int) -> Step:
    fitting = tuple(row for row in batch if row.num_tokens <= max_length)
    num_tokens = sum(row.num_tokens for row in fitting)
    objective = SftObjective(len(fitting), num_tokens, len(batch) - len(fitting))
    return Step(fitting, objective, learning_rate, sum(row.num_trained for row in fitting))

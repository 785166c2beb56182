import tracemalloc

import numpy as np

from trainyard_trainer.sft.dataset import Row
from trainyard_trainer.sft.spooled_rows import spool_rows


def make_rows(count):
    for number in range(count):
        yield Row(list(range(number, number + 1 + number % 50)), [index % 3 == 0 for index in range(1 + number % 50)])


def test_rows_are_read_as_they_were_written_in_any_order():
    with spool_rows(make_rows(200)) as rows:
        assert len(rows) == len(list(rows)) == 200
        for number in (0, 199, 7, 100):
            ids = np.arange(number, number + 1 + number % 50)
            assert rows[number].ids.tolist() == ids.tolist()
            assert rows[number].trained.tolist() == [index % 3 == 0 and index > 0 for index in range(len(ids))]
            assert rows[number].family == number


def test_rows_take_a_few_bytes_of_memory_each():
    tracemalloc.start()
    try:
        with spool_rows(make_rows(2_000)) as rows:
            assert sum(row.num_tokens for row in rows) == 51_000
            assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()

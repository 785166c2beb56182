import errno
import io
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainyard_trainer.statistics import recorder as recorder_module
from trainyard_trainer.statistics.recorder import TokenRecorder
from trainyard_trainer.statistics.sampling import is_kept
from trainyard_trainer.statistics.token_file import TokenFile, round_mantissa
from trainyard_trainer.statistics.tokens import CLIPPED_HIGH, CLIPPED_LOW, MASKED, HistoryIndex, TokenStatistics

JOB = "5f3a9d5e-8f0e-4c0f-9a58-3e8d0c1f2b7a"


def make_tokens(coefficients, flags=(), old=-0.5):
    n = len(coefficients)
    return TokenStatistics(
        positions=np.arange(10, 10 + n, dtype=np.int32),
        ids=np.arange(100, 100 + n, dtype=np.int32),
        old_logprobs=np.full(n, old, np.float32),
        new_logprobs=np.full(n, -0.25, np.float32),
        ratios=np.full(n, 1.25, np.float32),
        coefficients=np.array(coefficients, np.float32),
        entropies=np.full(n, 0.75, np.float32),
        flags=np.array([*flags, *[0] * (n - len(flags))], np.uint8),
    )


def make_random_tokens(n, seed=0):
    """Tokens like those of a policy: most are nearly certain, and ids follow Zipf's law."""
    random = np.random.default_rng(seed)
    entropies = np.where(random.random(n) < 0.6, random.exponential(0.02, n), random.exponential(0.9, n))
    old = -entropies * random.gamma(1, 1, n)
    new = np.minimum(old + random.normal(0, 0.03, n) * np.sqrt(-old + 1e-4), -1e-7)
    numbers = (old, new, np.exp(new - old), -np.exp(new - old) * random.normal() / 3e4, entropies)
    ids = np.minimum(random.zipf(1.3, n), 150_000)
    positions = np.arange(n)
    first = [np.asarray(each, np.int32) for each in (positions, ids)]
    return TokenStatistics(*first, *(np.asarray(each, np.float32) for each in numbers), np.zeros(n, np.uint8))


def read_table(recorder):
    file = recorder.finish()
    assert file is not None
    file.seek(0)
    return pq.read_table(file)


def test_each_token_is_a_row_with_all_recorded_values():
    recorder = TokenRecorder(JOB, "all")
    recorder.add(1, HistoryIndex(0, 3, 0), make_tokens([-0.5, 0.25, 0.0], [CLIPPED_LOW, CLIPPED_HIGH, MASKED]))
    recorder.add(2, HistoryIndex(1, 0, 2), make_tokens([-1.0], old=math.nan))
    recorder.add_dropped(
        HistoryIndex(2, 0, 0), np.array([7], np.int32), np.array([9], np.int32), np.array([-2.0], np.float32)
    )
    table = read_table(recorder)
    assert table.schema.metadata == {
        b"trainyard.schema": b"1",
        b"trainyard.job": JOB.encode(),
        b"trainyard.mode": b"all",
    }
    assert table.to_pydict() == {
        "gradient_step": [1, 1, 1, 2, None],
        "group_index": [0, 0, 0, 1, 2],
        "trajectory_index": [3, 3, 3, 0, 0],
        "history_index": [0, 0, 0, 2, 0],
        "position": [10, 11, 12, 10, 7],
        "token_id": [100, 101, 102, 100, 9],
        "old_logprob": [-0.5, -0.5, -0.5, None, -2.0],
        "new_logprob": [-0.25, -0.25, -0.25, -0.25, None],
        "ratio": [1.25, 1.25, 1.25, 1.25, None],
        "coefficient": [-0.5, 0.25, 0.0, -1.0, None],
        "entropy": [0.75, 0.75, 0.75, 0.75, None],
        "masked": [False, False, True, False, False],
        "clipped_low": [True, False, False, False, False],
        "clipped_high": [False, True, False, False, False],
        "dropped": [False, False, False, False, True],
    }


@pytest.mark.parametrize(
    ("steps", "push"),
    [
        ([[-0.5, -0.25]], 0.75),  # the loss falls when these become more likely
        ([[0.5, 0.25]], -0.75),
        ([[-0.5, 0.25]], 0.75),
        ([[-0.5, 0.25], [1.0]], -1.75),
        ([[0.0, 0.0]], 0.0),
    ],
)
@pytest.mark.parametrize("mode", ["off", "sampled", "all"])
def test_a_push_sums_magnitudes_over_all_steps_and_has_the_sign_of_the_change(mode, steps, push):
    recorder = TokenRecorder(JOB, mode)
    for number, coefficients in enumerate(steps, start=1):
        recorder.add(number, HistoryIndex(4, 1, number), make_tokens(coefficients))
    assert recorder.pushes() == {"4/1": push}


def test_pushes_without_recorded_tokens_count_equally():
    whole, push_only = TokenRecorder(JOB, "all"), TokenRecorder(JOB, "all")
    tokens = make_random_tokens(1000)
    whole.add(1, HistoryIndex(0, 0, 0), tokens)
    push_only.add_push(HistoryIndex(0, 0, 0), tokens.coefficients)
    assert whole.pushes() == push_only.pushes()
    assert push_only.finish() is None


def test_a_continued_attempt_includes_earlier_pushes():
    whole, first, second = (TokenRecorder(JOB, "off") for _ in range(3))
    for step, recorder in ((1, first), (2, second)):
        for target in (whole, recorder):
            target.add(step, HistoryIndex(0, step % 2, 0), make_tokens([-0.5, 0.25]))
            target.add(step, HistoryIndex(0, 0, 1), make_tokens([2.0]))
    second.restore_sums(json.loads(json.dumps(first.list_sums())))
    assert second.pushes() == whole.pushes()


def test_dropped_tokens_have_no_push():
    recorder = TokenRecorder(JOB, "all")
    tokens = make_tokens([1.0])
    recorder.add_dropped(HistoryIndex(0, 0, 0), tokens.positions, tokens.ids, tokens.old_logprobs)
    assert recorder.pushes() == {}


def test_about_one_trajectory_in_sixteen_is_sampled_with_all_of_its_steps_and_histories():
    recorder = TokenRecorder(JOB, "sampled")
    indices = [HistoryIndex(group, trajectory, 0) for group in range(40) for trajectory in range(32)]
    for history in indices:
        for step in (1, 2):
            recorder.add(step, history, make_tokens([0.1]))
            recorder.add(step, history._replace(history=1), make_tokens([0.1]))
    table = read_table(recorder).to_pydict()
    rows = set(zip(table["group_index"], table["trajectory_index"], strict=True))
    assert 60 < len(rows) < 100
    assert len(table["group_index"]) == 4 * len(rows)
    assert rows == {history[:2] for history in indices if is_kept("sampled", JOB, *history[:2])}
    assert rows != {history[:2] for history in indices if is_kept("sampled", "another job", *history[:2])}


def test_no_file_is_written_when_it_is_off():
    recorder = TokenRecorder(JOB, "off")
    recorder.add(1, HistoryIndex(0, 0, 0), make_tokens([0.1]))
    assert not recorder.keeps(0, 0)
    assert recorder.finish() is None


def test_a_long_job_needs_no_more_memory_than_a_row_group(monkeypatch):
    monkeypatch.setattr(recorder_module, "ROW_GROUP_TOKENS", 1000)
    recorder = TokenRecorder(JOB, "all")
    tokens = make_random_tokens(300)
    for step in range(1, 101):
        recorder.add(step, HistoryIndex(0, 0, 0), tokens)
        assert recorder.num_waiting < 1000
    file = recorder.finish()
    metadata = pq.read_metadata(file)
    assert (metadata.num_rows, metadata.num_row_groups) == (30_000, 25)
    recorder.discard()
    assert file.closed


def test_a_token_takes_about_fifteen_bytes():
    recorder = TokenRecorder(JOB, "all")
    for number in range(256):
        recorder.add(1 + number // 8, HistoryIndex(number // 8, number % 8, 0), make_random_tokens(512, number))
    file = recorder.finish()
    assert 8 < file.seek(0, io.SEEK_END) / (256 * 512) < 15


def test_rounding_keeps_sixteen_bits_and_nan():
    numbers = np.random.default_rng(0).normal(0, 1e-3, 10_000).astype(np.float32)
    rounded = round_mantissa(numbers)
    assert np.max(np.abs(rounded - numbers) / np.abs(numbers)) <= 2**-16
    assert not np.any(rounded.view(np.uint32) & 0xFF)
    assert round_mantissa(np.array([0.0, 1.0, -np.inf, np.inf], np.float32)).tolist() == [0.0, 1.0, -math.inf, math.inf]


@pytest.mark.parametrize("fails", ["write", "finish"])
def test_a_full_disk_loses_only_the_file(monkeypatch, capsys, fails):
    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(TokenFile, fails, fail)
    monkeypatch.setattr(recorder_module, "ROW_GROUP_TOKENS", 1)
    recorder = TokenRecorder(JOB, "all")
    for step in (1, 2):
        recorder.add(step, HistoryIndex(0, 0, 0), make_tokens([-1.0]))
    assert recorder.finish() is None
    assert recorder.pushes() == {"0/0": 2.0}
    assert capsys.readouterr().out.count("token statistics cannot be written") == 1


def test_readers_in_other_languages_see_plain_types():
    recorder = TokenRecorder(JOB, "all")
    recorder.add(1, HistoryIndex(0, 0, 0), make_tokens([0.1]))
    assert {field.type for field in read_table(recorder).schema} == {pa.int32(), pa.float32(), pa.bool_()}

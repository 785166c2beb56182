from dataclasses import replace

import numpy as np
import pytest

from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.rl.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.rl.samples import build_trajectory
from trainyard_trainer.tokens.history import Row


def make_sample(trained: int, advantage: float, context: int = 2) -> Sample:
    example = make_example([5] * (context + trained), [False] * context + [True] * trained, 0)
    old = np.zeros(trained, np.float32)
    return Sample(example.ids, example.trained, 0, 0, 0, advantage, weigh_trajectory(trained), old)


@pytest.mark.parametrize(
    ("name", "rewards", "scale", "expected"),
    [
        ("scaled by the population's spread", [1.0, 0.0, 0.0, 1.0], True, [1.0, -1.0, -1.0, 1.0]),
        ("unscaled", [3.0, 1.0, 2.0], False, [1.0, -1.0, 0.0]),
        ("equal rewards give exact zeros", [0.1, 0.1, 0.1], True, [0.0, 0.0, 0.0]),
        ("a group of one gives nothing", [7.0], True, [0.0]),
        ("an empty group", [], True, []),
        ("the noise of a float", [0.1 + 0.2, 0.3, 0.3], True, [0.0, 0.0, 0.0]),
        ("the noise of a float32", [1000.0, 1000.0001], True, [0.0, 0.0]),
        ("less than ART tells apart", [0.0, 1e-13], True, [0.0, 0.0]),
        ("small rewards that differ", [1e-5, 3e-5], False, [-1e-5, 1e-5]),
    ],
)
def test_advantages(name, rewards, scale, expected):
    assert compute_advantages(rewards, scale=scale) == pytest.approx(expected, abs=1e-5), name


def test_equal_rewards_are_exactly_zero_although_their_mean_is_not_exact():
    assert compute_advantages([0.1] * 7, scale=True) == [0.0] * 7


def test_trajectories_of_any_length_count_equally():
    samples = normalize_samples([make_sample(1, 1.0), make_sample(9, -1.0)], 0.0)
    short, long = (sample.weight * sample.num_trained for sample in samples)
    assert short == pytest.approx(long, rel=1e-5)


def test_all_histories_of_a_trajectory_share_its_weight():
    samples = build_trajectory([(0, make_row(3)), (2, make_row(1))], 1.0, 5, 7)
    assert [(sample.family, sample.trajectory, sample.history) for sample in samples] == [(5, 7, 0), (5, 7, 2)]
    assert [sample.weight for sample in samples] == pytest.approx([1 / 4] * 2)


def make_row(trained: int) -> Row:
    size = trained + 1
    return Row(np.full(size, 5), np.arange(size) > 0, np.zeros(size, np.float32))


@pytest.mark.parametrize("scale", [1.0, 1000.0, 1e-3])
def test_the_mean_push_per_token_is_one_for_any_reward_scale(scale):
    samples = normalize_samples([make_sample(2, 3.0 * scale), make_sample(6, -1.0 * scale)], 0.0)
    total = sum(sample.num_trained for sample in samples)
    assert sum(s.weight * s.num_trained for s in samples) / total == pytest.approx(1)
    assert sum(abs(s.advantage) * s.weight * s.num_trained for s in samples) / total == pytest.approx(1)


def test_balance_shrinks_one_side_before_the_normalization():
    pair = [make_sample(4, 1.0), make_sample(4, -1.0)]
    positive, negative = normalize_samples(pair, 0.5)
    assert negative.advantage / positive.advantage == pytest.approx(-0.5)
    positive, negative = normalize_samples(pair, -0.5)
    assert positive.advantage / negative.advantage == pytest.approx(-0.5)


def test_a_balance_that_removes_all_advantages_trains_no_token():
    assert normalize_samples([replace(make_sample(4, 1.0), advantage=-1.0)], 1.0) == []
    assert normalize_samples([], 0.0) == []

import pytest

from testing import seeds


@pytest.fixture(autouse=True)
def run(monkeypatch):
    for name, value in {"RUN_SEED": 7, "NUM_RUNS": 1, "IS_NIGHTLY": False}.items():
        monkeypatch.setattr(seeds, name, value)


def test_each_run_has_seeds_of_its_own(monkeypatch):
    assert list(seeds.draw_seeds(2)) == [70_000, 70_001]
    monkeypatch.setattr(seeds, "RUN_SEED", 8)
    assert list(seeds.draw_seeds(2)) == [80_000, 80_001]


def test_several_runs_in_one_have_the_seeds_of_each(monkeypatch):
    monkeypatch.setattr(seeds, "NUM_RUNS", 3)
    assert list(seeds.draw_seeds(2)) == [70_000, 70_001, 80_000, 80_001, 90_000, 90_001]


def test_a_deep_run_has_ten_times_the_seeds(monkeypatch):
    monkeypatch.setattr(seeds, "IS_NIGHTLY", True)
    assert list(seeds.draw_seeds(2)) == list(range(70_000, 70_020))

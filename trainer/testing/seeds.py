"""Seeds of random cases. A pytest plugin that prints the seed of the run.

Each run has new cases. TRAINYARD_TEST_SEED repeats another run's cases. TRAINYARD_TEST_DEEP=1 runs ten times as many.
"""

import os
import secrets
from collections.abc import Sequence
from random import Random
from typing import TypeVar

RUN_SEED = int(os.environ.get("TRAINYARD_TEST_SEED") or secrets.randbelow(1_000_000))
IS_DEEP = os.environ.get("TRAINYARD_TEST_DEEP") == "1"

Case = TypeVar("Case")


def draw_seeds(count: int) -> Sequence[int]:
    """This many seeds of this run. No other run has them."""
    start = RUN_SEED * 10_000
    return range(start, start + count * (10 if IS_DEEP else 1))


def choose_share(cases: Sequence[Case], share: int) -> list[Case]:
    """A share of cases that are always the same, in their order. The run's seed decides which; a deep run has all."""
    chosen = range(len(cases)) if IS_DEEP else sorted(Random(RUN_SEED).sample(range(len(cases)), share))
    return [cases[index] for index in chosen]


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line(f"random cases: TRAINYARD_TEST_SEED={RUN_SEED}{' TRAINYARD_TEST_DEEP=1' * IS_DEEP}")

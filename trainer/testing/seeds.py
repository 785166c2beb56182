"""Seeds of random cases. A pytest plugin that prints the seed of the run.

Each run has new cases. TRAINYARD_TEST_SEED repeats those of another run. A nightly run has ten times as many.
TRAINYARD_TEST_RUNS=300 runs the cases of 300 runs: those of the seed, and of the 299 seeds that follow it.
"""

import os
import secrets
from collections.abc import Sequence
from random import Random
from typing import TypeVar

RUN_SEED = int(os.environ.get("TRAINYARD_TEST_SEED") or secrets.randbelow(1_000_000))
NUM_RUNS = int(os.environ.get("TRAINYARD_TEST_RUNS") or 1)
IS_NIGHTLY = os.environ.get("TRAINYARD_TEST_NIGHTLY") == "1"

Case = TypeVar("Case")


def draw_seeds(count: int) -> Sequence[int]:
    """This many seeds of this run. No other run has them."""
    each = count * (10 if IS_NIGHTLY else 1)
    return [run * 10_000 + index for run in range(RUN_SEED, RUN_SEED + NUM_RUNS) for index in range(each)]


def choose_share(cases: Sequence[Case], share: int) -> list[Case]:
    """A share of cases that are always the same, in order. The run's seed decides which; a nightly run has all."""
    chosen = range(len(cases)) if IS_NIGHTLY else sorted(Random(RUN_SEED).sample(range(len(cases)), share))
    return [cases[index] for index in chosen]


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line(
        f"random cases: TRAINYARD_TEST_SEED={RUN_SEED}{' TRAINYARD_TEST_NIGHTLY=1' * IS_NIGHTLY}"
    )

"""A contestant of a comparison: a process that computes the same round on each request."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Round:
    """The tokens of the examples (not all computed tokens), and the time for them. `losses` are those of the optimizer
    steps."""

    seconds: float
    tokens: int
    losses: list[float]


def time_round(tokens: int, run: Callable[[], list[float]]) -> Round:
    started = time.perf_counter()
    losses = run()
    return Round(time.perf_counter() - started, tokens, losses)


def serve_rounds(prepare: Callable[[], Callable[[], Round]]) -> None:
    """Runs a warm-up, and then a round for each line of standard input. Reports each in a line of standard output."""
    output, sys.stdout = sys.stdout, sys.stderr  # libraries print
    run = prepare()
    run()
    for _ in sys.stdin:
        print(json.dumps(vars(run())), file=output, flush=True)

"""A contestant of a comparison: a process that computes the same round on each request."""

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Round:
    """The tokens of the examples (not all computed tokens), and the wall-clock and CPU time for them. `losses` are
    those of the optimizer steps."""

    seconds: float
    cpu_seconds: float
    tokens: int
    losses: list[float]


class Stopwatch:
    def start(self) -> None:
        self.started = read_clocks()

    def stop(self) -> None:
        self.stopped = read_clocks()

    def finish(self, tokens: int, losses: list[float]) -> Round:
        seconds, cpu_seconds = (stop - start for start, stop in zip(self.started, self.stopped, strict=True))
        return Round(seconds, cpu_seconds, tokens, losses)


def read_clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def time_round(tokens: int, run: Callable[[], list[float]]) -> Round:
    watch = Stopwatch()
    watch.start()
    losses = run()
    watch.stop()
    return watch.finish(tokens, losses)


def serve_rounds(prepare: Callable[[], Callable[[], Round]]) -> None:
    """Runs a warm-up, and then a round for each line of standard input. Reports each in a line of standard output."""
    output, sys.stdout = sys.stdout, sys.stderr  # libraries print
    run = prepare()
    idle_bytes = read_peak_bytes()
    run()
    print(json.dumps({"idle_bytes": idle_bytes}), file=output, flush=True)
    for _ in sys.stdin:
        found = run()
        print(json.dumps({**vars(found), "peak_bytes": read_peak_bytes()}), file=output, flush=True)


def read_peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

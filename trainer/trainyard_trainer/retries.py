"""Repeats calls after temporary failures."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class RetryPolicy:
    """Repeats a call after the exceptions `on`, once for each of the `pauses` in seconds. `report` gets the exception
    before each pause. An exception from `wait` ends the call."""

    on: type[Exception] | tuple[type[Exception], ...]
    pauses: Iterable[float]
    report: Callable[[Exception], None] = lambda _: None
    wait: Callable[[float], object] = time.sleep


def call_with_retries(function: Callable[[], Result], policy: RetryPolicy) -> Result:
    """Returns the result of `function`. Raises its last exception when no pause is left."""
    pauses = iter(policy.pauses)
    while True:
        try:
            return function()
        except policy.on as cause:
            pause = next(pauses, None)
            if pause is None:
                raise
            policy.report(cause)
        policy.wait(pause)


def back_off(first_seconds: float, max_seconds: float) -> Iterator[float]:
    """Endless pauses. Each is twice as long as the previous one, up to the maximum."""
    pause = first_seconds
    while True:
        yield pause
        pause = min(pause * 2, max_seconds)

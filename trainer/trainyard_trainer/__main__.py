"""`python -m trainyard_trainer`: loads the base model, then runs jobs until SIGTERM."""

import os
import signal
import sys
import traceback
from contextlib import suppress
from functools import partial
from typing import NoReturn

from trainyard_trainer import log
from trainyard_trainer.config import ConfigError, prepare_environment, read_settings

# A trainer of one job that is stopped has not trained it: with 0 its pod would count as succeeded.
STOPPED_EARLY = 143


def exit_on_signal(exit_code: int, *_: object) -> None:
    """Ends the main thread's wait. Jobs have threads of their own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # further signals are ignored
    sys.exit(exit_code)


def main() -> NoReturn:
    """Ends the process with os._exit. The interpreter would unwind the remaining threads, and a thread inside C++ code
    would then abort the process, although all jobs are saved."""
    code = 1
    try:
        code = get_exit_code()
        with suppress(OSError):
            sys.stdout.flush()
    finally:
        os._exit(code)


def get_exit_code() -> int:
    """Runs the trainer and returns its exit code. Writes errors to standard error, as the interpreter would."""
    try:
        run_trainer()
    except SystemExit as cause:
        if isinstance(cause.code, int | None):
            return cause.code or 0
        print(cause.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_trainer() -> None:
    try:
        settings = read_settings()
    except ConfigError as cause:
        sys.exit(f"trainyard_trainer: {cause}")
    # With several processes, rank 0 ends the others after its jobs are saved.
    stop = partial(exit_on_signal, STOPPED_EARLY if settings.job_id else 0)
    on_signal = signal.SIG_IGN if settings.rank else stop
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    prepare_environment(settings)
    # Imported late: torch and transformers take seconds, and a wrong setting should be reported at once.
    from trainyard_trainer.process import run

    try:
        run(settings)
    finally:
        log.info("trainer ends")


if __name__ == "__main__":
    main()

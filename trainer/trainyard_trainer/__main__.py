"""`python -m trainyard_trainer`: loads the base model, then works on jobs until SIGTERM."""

import signal
import sys

from trainyard_trainer import log
from trainyard_trainer.config import ConfigError, prepare_environment, read_settings


def leave(*_: object) -> None:
    """The main thread leaves whatever it waits for; jobs have threads of their own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    sys.exit(0)


def main() -> None:
    try:
        settings = read_settings()
    except ConfigError as cause:
        sys.exit(f"trainyard_trainer: {cause}")
    # Of several processes the first one ends the others, when its jobs are saved.
    on_signal = signal.SIG_IGN if settings.rank else leave
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    prepare_environment(settings)
    # Imported late: torch and transformers take seconds, and a wrong setting should not.
    from trainyard_trainer.process import run

    try:
        run(settings)
    finally:
        log.info("trainer ends")


if __name__ == "__main__":
    main()

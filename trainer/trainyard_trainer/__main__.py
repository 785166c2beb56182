"""`python -m trainyard_trainer`: loads the base model, then works on jobs until SIGTERM."""

import signal
import sys
import time

from trainyard_trainer import log
from trainyard_trainer.config import ConfigError, prepare_environment, read_settings


def leave(*_: object) -> None:
    """At once, also in the middle of a job: its lease sees to it that somebody else trains it."""
    sys.exit(0)


def main() -> None:
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    try:
        settings = read_settings()
    except ConfigError as cause:
        sys.exit(f"trainyard_trainer: {cause}")
    prepare_environment(settings)
    started = time.monotonic()
    # Imported late: torch and transformers take seconds, and a wrong setting should not.
    from trainyard_trainer.compute.adapter import load_base
    from trainyard_trainer.worker import serve_jobs

    base = load_base(settings.base_model, settings.model_path)
    log.info("base model loaded", base_model=base.name, device=str(base.device), seconds=time.monotonic() - started)
    try:
        serve_jobs(settings, base)
    finally:
        log.info("trainer ends")


if __name__ == "__main__":
    main()

"""`python -m trainyard_trainer`: loads the base model, then works on jobs until SIGTERM."""

import signal
import sys
import time

from trainyard_trainer import log
from trainyard_trainer.config import ConfigError, Settings, prepare_environment, read_settings


def leave(*_: object) -> None:
    """The main thread leaves whatever it waits for; jobs have threads of their own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    sys.exit(0)


def main() -> None:
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    try:
        settings = read_settings()
    except ConfigError as cause:
        sys.exit(f"trainyard_trainer: {cause}")
    prepare_environment(settings)
    try:
        serve(settings)
    finally:
        log.info("trainer ends")


def serve(settings: Settings) -> None:
    # Imported late: torch and transformers take seconds, and a wrong setting should not.
    from trainyard_trainer.compute.base import Source, load_base
    from trainyard_trainer.compute.machine import Machine
    from trainyard_trainer.compute.turns import Turns, choose_policy
    from trainyard_trainer.reports.status_client import StatusClient
    from trainyard_trainer.worker import Worker

    started = time.monotonic()
    source = Source(settings.model_path, settings.model_revision, settings.trust_remote_code)
    base = load_base(settings.base_model, source)
    log.info("base model loaded", base_model=base.name, device=str(base.device), seconds=time.monotonic() - started)
    with Turns(Machine(base), choose_policy(base, settings)) as turns:
        worker = Worker(StatusClient(settings.status_url, settings.token_file), turns, settings)
        try:
            worker.serve()
        finally:
            worker.end()


if __name__ == "__main__":
    main()

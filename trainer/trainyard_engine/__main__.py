"""`python -m trainyard_engine [VLLM_ARGUMENT...]`: serves one base model and all its checkpoints."""

import signal
import sys
from dataclasses import replace

from trainyard_artifacts.store import open_store
from trainyard_base_model.start_failure import StartFailure
from trainyard_engine.config import ConfigError, Settings, prepare_environment, read_settings
from trainyard_engine.engine_process import tie_engine_processes


def main() -> None:
    try:
        signal.signal(signal.SIGTERM, interrupt)  # vLLM replaces the handler when it serves
        settings = read_settings()
        prepare_environment(settings)
        tie_engine_processes()
        settings = fetch_model(settings)
        # Imported late: vLLM reads its environment during the import.
        from trainyard_engine.server import run_server

        run_server(settings, sys.argv[1:], open_store(settings.artifacts))
    except (ConfigError, StartFailure) as cause:
        sys.exit(f"trainyard_engine: {cause}")
    except KeyboardInterrupt:
        sys.exit(0)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def fetch_model(settings: Settings) -> Settings:
    """vLLM gets a folder, so that it cannot look at other revisions. Raises StartFailure."""
    # Imported late: torch and the hub's client read the environment during their import.
    import torch

    from trainyard_base_model.bucket_download import fetch_bucket_model
    from trainyard_base_model.download import Repository, fetch_base_model
    from trainyard_base_model.gpus import require_gpus
    from trainyard_base_model.progress_reports import reported_progress

    # This asks the driver, and does not begin to use a GPU, which forked processes could not share.
    require_gpus(torch.cuda.device_count() + torch.xpu.device_count())
    with reported_progress(settings.status_server, log_download) as progress:
        if settings.bucket_model:
            return replace(settings, model=str(fetch_bucket_model(settings.bucket_model, progress)))
        return replace(settings, model=fetch_base_model(Repository(settings.model, settings.model_revision), progress))


def log_download(done_bytes: int, total_bytes: int) -> None:
    print(f"Downloaded {done_bytes} of {total_bytes} bytes.", flush=True)


if __name__ == "__main__":
    main()

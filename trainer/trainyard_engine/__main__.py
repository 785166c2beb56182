"""`python -m trainyard_engine [VLLM_ARGUMENT...]`: serves one base model and all its checkpoints."""

import sys

from trainyard_artifacts.store import open_store
from trainyard_engine.config import ConfigError, prepare_environment, read_settings
from trainyard_engine.engine_process import tie_engine_processes


def main() -> None:
    try:
        settings = read_settings()
        prepare_environment(settings)
        tie_engine_processes()
        # Imported late: vLLM reads its environment during the import.
        from trainyard_engine.server import run_server

        run_server(settings, sys.argv[1:], open_store(settings.artifacts))
    except ConfigError as cause:
        sys.exit(f"trainyard_engine: {cause}")
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()

"""vLLM's engine processes import this first. It ends them with their server: after a SIGKILL of the server, vLLM would
leave them running."""

import importlib.util
import sys

from trainyard_base_model.parent_death import end_with_parent


def tie_engine_processes() -> None:
    """Makes this module the main module of child processes.

    Python imports the module of `-m` again in child processes, but not if it is a package's `__main__`.
    """
    sys.modules["__main__"].__spec__ = importlib.util.find_spec(__name__)


if __name__ == "__mp_main__":
    end_with_parent()

"""vLLM's engine processes end with their server: after a SIGKILL of the server, vLLM would leave them running. Spawned
ones import this module first."""

import importlib.util
import os
import signal
import sys

from trainyard_base_model.parent_death import end_with_parent


def tie_engine_processes() -> None:
    """Makes this module the main module of child processes.

    Python imports the module of `-m` again in child processes, but not if it is a package's `__main__`.
    """
    sys.modules["__main__"].__spec__ = importlib.util.find_spec(__name__)
    os.register_at_fork(after_in_child=begin_fork)


def begin_fork() -> None:
    end_with_parent()
    # A signal to this process would also wake the server's event loop, which then takes it for its own.
    signal.set_wakeup_fd(-1)


if __name__ == "__mp_main__":
    end_with_parent()

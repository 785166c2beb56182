"""vLLM's engine processes import this first. It ends them with their server, even after a crash."""

import ctypes
import importlib.util
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tie_engine_processes() -> None:
    """Makes this module the main module of child processes.

    Python imports the module of `-m` again in child processes, but not if it is a package's `__main__`.
    """
    sys.modules["__main__"].__spec__ = importlib.util.find_spec(__name__)


def end_with_parent() -> None:
    """Makes Linux kill this process when its parent is gone. After a SIGKILL of the parent, vLLM would leave it
    running."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__mp_main__":
    end_with_parent()

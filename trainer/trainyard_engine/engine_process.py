"""What vLLM's engine processes import first: they then end with their server, however that ends."""

import ctypes
import importlib.util
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tie_engine_processes() -> None:
    """Makes this module what processes started from here import as their main module.

    Python has them import the module of `-m` again, but not where that is a package's `__main__`.
    """
    sys.modules["__main__"].__spec__ = importlib.util.find_spec(__name__)


def end_with_parent() -> None:
    """Has Linux kill this process when its parent is gone; vLLM would leave it running after a SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__mp_main__":
    end_with_parent()

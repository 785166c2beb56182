"""The engine process as a fork of the server.

On processors, vLLM spawns it. It then imports vLLM once more, which takes ten seconds.
"""

import multiprocessing
from functools import partial

import torch
from vllm.platforms import current_platform
from vllm.v1.engine import utils


def fork_engine_process() -> None:
    """Not for a server that may compute on several threads: in a fork, OpenMP would wait for threads that it lacks."""
    if current_platform.is_cpu() and torch.get_num_threads() == 1:
        setattr(utils, "get_mp_context", partial(multiprocessing.get_context, "fork"))  # noqa: B010  # vLLM does not export it

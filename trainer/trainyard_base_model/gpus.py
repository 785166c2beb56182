"""The GPUs that the pod asked for."""

import os
from collections.abc import Mapping

from trainyard_base_model.start_failure import StartFailure


def require_gpus(num_visible: int, env: Mapping[str, str] = os.environ) -> None:
    """Without a GPU, everything would be computed on the processor, a hundred times slower. Raises StartFailure."""
    requested = env.get("TRAINYARD_GPUS") or "0"
    # Parts of one GPU are visible as one device, so that the numbers may differ.
    if requested != "0" and num_visible == 0:
        raise StartFailure(
            "NoGpuVisible",
            f"The pod asks for GPUs ({requested}), but its process sees none. Check the GPU driver of the node, and "
            "that the container runtime passes GPUs on (a RuntimeClass, or the node's default runtime).",
        )

"""Fused kernels on a GPU, used where a model gives its own numbers with them.

Liger's (https://github.com/linkedin/Liger-Kernel): normalization, gated layers and rotary positions. Losses are not
among them: log-probabilities are taken chunk by chunk anyway (`logprobs.py`).

Layers are not given to torch.compile: adapters come and go on them, routes and checks are Python's, and lengths
differ from row to row, so that it would compile again and again while jobs wait.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch.distributed.fsdp import FSDPModule
from transformers import PreTrainedModel

from trainyard_trainer import log
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.probe import MAX_REASON_LENGTH, probe

KERNELS = {
    "rms_norm": True,
    "swiglu": True,
    "geglu": True,
    "rope": True,
    "cross_entropy": False,
    "fused_linear_cross_entropy": False,
}
Apply = Callable[[PreTrainedModel], None]


def apply_liger(model: PreTrainedModel) -> None:
    """Changes the model in place, and functions of its module; does nothing to models that Liger does not know."""
    from transformers.integrations.liger import apply_liger_kernel  # asks for Triton, which asks for a GPU

    apply_liger_kernel(model, KERNELS)


def fuse(base: Base, apply: Apply) -> bool:
    """Restores the model, with a line in the log, when it fails or gives other numbers after `apply`."""
    if any(isinstance(module, FSDPModule) for module in base.model.modules()):
        return False  # shares of a model have hooks of their own on its layers
    plain, before = probe(base), Snapshot(base.model)
    try:
        apply(base.model)
        difference = probe(base).differs_from(plain, base.model.dtype)
    except Exception as cause:  # also that there is no such package, or no compiler for it
        difference = f"{type(cause).__name__}: {cause}"
    if difference:
        before.restore()
        log.warn("the model goes without fused kernels", reason=difference[:MAX_REASON_LENGTH])
    return difference is None


class Snapshot:
    """What a model's layers, their classes and the modules of transformers that define them hold. Kernels are put into
    all of these. A model that is loaded anew would have them, too."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.layers = [(vars(layer), dict(vars(layer))) for layer in model.modules()]
        names = {type(layer).__module__ for layer in model.modules()}
        modules = [sys.modules[name] for name in sorted(names) if name.startswith("transformers.models.")]
        owners = [*modules, *(each for module in modules for each in list_classes(module))]
        self.owners = [(owner, dict(vars(owner))) for owner in owners]

    def restore(self) -> None:
        for held, before in self.layers:
            held.clear()
            held.update(before)
        for owner, before in self.owners:
            restore_attributes(owner, before)


def list_classes(module: ModuleType) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def restore_attributes(owner: Any, before: dict[str, Any]) -> None:
    for name, value in list(vars(owner).items()):
        if name not in before:
            delattr(owner, name)
        elif value is not before[name]:
            setattr(owner, name, before[name])

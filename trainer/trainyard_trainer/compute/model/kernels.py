"""Fused kernels on a GPU. A model only uses them if they give its own numbers.

They are Liger's (https://github.com/linkedin/Liger-Kernel): normalization, gated layers and rotary positions. Its
losses are not used, because log-probabilities are computed in chunks anyway (`logprobs.py`).

Layers are not compiled with torch.compile: adapters are added and removed, routes and checks run in Python, and lengths
differ between rows. It would compile again and again while jobs wait.
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
    """Changes the model in place, and functions of its module. Does nothing for models that Liger does not know."""
    from transformers.integrations.liger import apply_liger_kernel  # imports Triton, which needs a GPU

    apply_liger_kernel(model, KERNELS)


def fuse(base: Base, apply: Apply) -> bool:
    """Applies kernels. If the model then fails or gives other numbers, restores it and logs a line."""
    if any(isinstance(module, FSDPModule) for module in base.model.modules()):
        return False  # a sharded model has its own hooks on its layers
    plain, before = probe(base), Snapshot(base.model)
    try:
        apply(base.model)
        difference = probe(base).differs_from(plain, base.model.dtype)
    except Exception as cause:  # even when the package or a compiler is missing
        difference = f"{type(cause).__name__}: {cause}"
    if difference:
        before.restore()
        log.warn("the model goes without fused kernels", reason=difference[:MAX_REASON_LENGTH])
    return difference is None


class Snapshot:
    """The state of a model's layers, of their classes, and of the transformers modules that define them. Kernels change
    all of these, so a newly loaded model would have them too."""

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

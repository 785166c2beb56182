"""Chooses and checks the layers of the base model that get adapters, and describes failures to the job."""

from collections.abc import Sequence

from peft.tuners.tuners_utils import BaseTunerLayer
from torch.nn import Module
from transformers import PreTrainedModel

from trainyard_base_model import targets as base_targets
from trainyard_base_model.targets import UnusableTarget, explain_unroutable, find_layers, is_moved
from trainyard_trainer.compute.model.routing import RoutedLinear
from trainyard_trainer.failures import JobFailure


def choose_targets(model: PreTrainedModel, named: Sequence[str] | None) -> tuple[str, ...]:
    """Raises JobFailure."""
    try:
        return base_targets.choose_targets(model, named)
    except UnusableTarget as cause:
        raise make_targets_error(str(cause)) from cause


def require_routable(model: Module, targets: Sequence[str]) -> None:
    """Checks before PEFT changes the model. A checkpoint may name layers that its base model lacks, if others exist.
    Raises JobFailure."""
    present = [target for target in targets if find_layers(model, target) or is_moved(model, target)]
    for target in present or targets:
        if reason := explain_unroutable(model, target):
            raise make_targets_error(f"{target}, which {reason}")


def require_routed(model: Module) -> None:
    """Checks after PEFT has changed the model."""
    layers = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, BaseTunerLayer)]
    strange = [name for name, layer in layers if not isinstance(layer, RoutedLinear)]
    if strange:
        raise make_targets_error(f"{', '.join(strange[:3])}, where adapters of different models cannot be kept apart")


def make_targets_error(targets: str) -> JobFailure:
    message = (
        f"The base model's lora.targetModules name {targets}. Ask the administrator for a BaseModel whose "
        "lora.targetModules name linear layers that every token goes through, as q_proj, k_proj, v_proj and o_proj."
    )
    return JobFailure("Internal", "UnsupportedTargetModules", message[:1000], retryable=False)

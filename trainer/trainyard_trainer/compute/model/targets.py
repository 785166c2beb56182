"""Chooses the layers of the base model that get adapters: linear layers, whose routes decide which tokens use which
adapter.

For other layers, such as experts' weights in one tensor, PEFT uses a wrapper with one adapter for all tokens. Jobs that
share the base model would train each other's adapters.
"""

from collections.abc import Sequence

from peft import LoraConfig
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.transformers_weight_conversion import convert_peft_config_for_transformers
from torch.nn import Linear, Module

from trainyard_trainer.compute.model.routing import RoutedLinear
from trainyard_trainer.failures import JobFailure

# ART's defaults, which clients expect if the base model names none.
DEFAULT_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
# An expert gets the tokens that chose it, in another order than the row's, so that no range belongs to one model.
EXPERTS = "experts"


def choose_targets(model: Module, named: Sequence[str] | None) -> tuple[str, ...]:
    """The sorted names of the layers that get adapters. All names in a BaseModel must be usable. Default names that
    this model cannot use are dropped. Raises JobFailure."""
    wanted = sorted(named or DEFAULT_TARGETS)
    routable = [target for target in wanted if explain_unroutable(model, target) is None]
    if named or not routable:
        require_each(model, wanted)
    return tuple(routable)


def require_routable(model: Module, targets: Sequence[str]) -> None:
    """Checks before PEFT changes the model. A checkpoint may name layers that its base model lacks, if others exist.
    Raises JobFailure."""
    present = [target for target in targets if find_layers(model, target) or is_moved(model, target)]
    require_each(model, present or targets)


def require_each(model: Module, targets: Sequence[str]) -> None:
    for target in targets:
        if reason := explain_unroutable(model, target):
            raise make_targets_error(f"{target}, which {reason}")


def require_routed(model: Module) -> None:
    """Checks after PEFT has changed the model."""
    layers = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, BaseTunerLayer)]
    strange = [name for name, layer in layers if not isinstance(layer, RoutedLinear)]
    if strange:
        raise make_targets_error(f"{', '.join(strange[:3])}, where adapters of different models cannot be kept apart")


def explain_unroutable(model: Module, target: str) -> str | None:
    """Why layers of this name cannot have an adapter for one job. None if they can."""
    layers = find_layers(model, target)
    if is_moved(model, target) or any(EXPERTS in name.split(".") for name in layers):
        return "is part of the model's experts, which not all tokens pass through"
    if not layers:
        return "is not a layer of the model"
    return None if all(isinstance(layer, Linear | RoutedLinear) for layer in layers.values()) else "is no linear layer"


def find_layers(model: Module, target: str) -> dict[str, Module]:
    """Finds layers by the ends of their names, as PEFT does."""
    return {name: layer for name, layer in model.named_modules() if f".{name}".endswith(f".{target}")}


def is_moved(model: Module, target: str) -> bool:
    """Whether PEFT uses the name for experts' weights in one tensor."""
    config = LoraConfig(target_modules=[target])
    try:
        convert_peft_config_for_transformers(config, model, None)
    except ValueError:  # it only works together with others of these weights
        return True
    return bool(config.target_parameters)


def make_targets_error(targets: str) -> JobFailure:
    message = (
        f"The base model's lora.targetModules name {targets}. Ask the administrator for a BaseModel whose "
        "lora.targetModules name linear layers that every token goes through, as q_proj, k_proj, v_proj and o_proj."
    )
    return JobFailure("Internal", "UnsupportedTargetModules", message[:1000], retryable=False)

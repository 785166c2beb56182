"""Which layers of the base model get adapters: linear ones, whose routes say which tokens go through which adapter.

What is no linear layer, as the weights that experts keep as one tensor, gets from PEFT a wrapper that knows one adapter
for all tokens. Jobs that share the base model would train through each other's.
"""

from collections.abc import Sequence

from peft import LoraConfig
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.transformers_weight_conversion import convert_peft_config_for_transformers
from torch.nn import Linear, Module

from trainyard_trainer.compute.model.routing import RoutedLinear
from trainyard_trainer.failures import JobFailure

# ART's defaults, which clients expect when the base model names none.
DEFAULT_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
# An expert is given the tokens that chose it, in another order than the row's, so that no range of them is one model's.
EXPERTS = "experts"


def choose_targets(model: Module, named: Sequence[str] | None) -> tuple[str, ...]:
    """The names for adapters of the base model, in order. Those that the BaseModel names must all be right; of the
    default ones those are left out that this model cannot have. Raises JobFailure."""
    wanted = sorted(named or DEFAULT_TARGETS)
    routable = [target for target in wanted if explain_unroutable(model, target) is None]
    if named or not routable:
        require_each(model, wanted)
    return tuple(routable)


def require_routable(model: Module, targets: Sequence[str]) -> None:
    """Before PEFT changes anything in the model. A checkpoint may name layers that its base model does not have, if it
    has others. Raises JobFailure."""
    present = [target for target in targets if find_layers(model, target) or is_moved(model, target)]
    require_each(model, present or targets)


def require_each(model: Module, targets: Sequence[str]) -> None:
    for target in targets:
        if reason := explain_unroutable(model, target):
            raise make_targets_error(f"{target}, which {reason}")


def require_routed(model: Module) -> None:
    """After PEFT changed the model."""
    layers = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, BaseTunerLayer)]
    strange = [name for name, layer in layers if not isinstance(layer, RoutedLinear)]
    if strange:
        raise make_targets_error(f"{', '.join(strange[:3])}, where adapters of different models cannot be kept apart")


def explain_unroutable(model: Module, target: str) -> str | None:
    """Why layers of this name can have no adapter of their own job; None where they can."""
    layers = find_layers(model, target)
    if is_moved(model, target) or any(EXPERTS in name.split(".") for name in layers):
        return "is part of the model's experts, which not all tokens pass through"
    if not layers:
        return "is not a layer of the model"
    return None if all(isinstance(layer, Linear | RoutedLinear) for layer in layers.values()) else "is no linear layer"


def find_layers(model: Module, target: str) -> dict[str, Module]:
    """By their names, which end as PEFT wants them to."""
    return {name: layer for name, layer in model.named_modules() if f".{name}".endswith(f".{target}")}


def is_moved(model: Module, target: str) -> bool:
    """Whether PEFT takes the name for weights of experts that are one tensor."""
    config = LoraConfig(target_modules=[target])
    try:
        convert_peft_config_for_transformers(config, model, None)
    except ValueError:  # it goes with others of these weights only
        return True
    return bool(config.target_parameters)


def make_targets_error(targets: str) -> JobFailure:
    message = (
        f"The base model's lora.targetModules name {targets}. Ask the administrator for a BaseModel whose "
        "lora.targetModules name linear layers that every token goes through, as q_proj, k_proj, v_proj and o_proj."
    )
    return JobFailure("Internal", "UnsupportedTargetModules", message[:1000], retryable=False)

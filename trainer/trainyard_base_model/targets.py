"""The layers of a base model that can get adapters, and those that get them by default.

In trainers, routes decide which tokens of a layer use which adapter. Experts' weights in one tensor have no routes:
PEFT uses a wrapper there with one adapter for all tokens. Jobs that share the base model would train each other's
adapters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peft import LoraConfig
from peft.tuners import lora
from peft.utils.transformers_weight_conversion import convert_peft_config_for_transformers
from torch.nn import Embedding, Linear, Module
from transformers import PreTrainedModel

# An expert gets the tokens that chose it, in another order than the row's, so that no range belongs to one model.
EXPERTS = "experts"
# They choose experts, and are not trained with adapters.
ROUTERS = frozenset({"gate", "router", "shared_expert_gate"})
# Engines multiply this weight into others for sampled tokens, so that an adapter on it would change prompts only.
ABSORBED = frozenset({"kv_b_proj"})
# What PEFT puts into a layer with adapters.
WRAPPED = frozenset({"base_layer", "lora_A", "lora_B", "lora_dropout"})


class UnusableTarget(ValueError):
    """A name in the BaseModel that no adapter can have. The text is the name and the reason."""


@dataclass(frozen=True)
class Coverage:
    """`left_out` names layers of the text decoder without an adapter, `share` is their part of its weights."""

    left_out: tuple[str, ...]
    share: float


def choose_targets(model: PreTrainedModel, named: Sequence[str] | None) -> tuple[str, ...]:
    """The sorted names of the layers that get adapters: those of the BaseModel, which must all be usable, or each
    linear layer of the text decoder. Raises UnusableTarget."""
    if named is None:
        return list_default_targets(model)
    for target in named:
        if reason := explain_unroutable(model, target):
            raise UnusableTarget(f"{target}, which {reason}")
    return tuple(sorted(named))


def list_default_targets(model: PreTrainedModel) -> tuple[str, ...]:
    layers = {shorten(name) for name, layer in list_decoder_layers(model) if isinstance(layer, Linear | lora.Linear)}
    usable = [name for name in layers - ROUTERS - ABSORBED if explain_unroutable(model, name) is None]
    if not usable:
        raise UnusableTarget("no layer, and the model has no linear layer that every token goes through")
    return tuple(sorted(usable))


def list_decoder_layers(model: PreTrainedModel) -> Iterator[tuple[str, Module]]:
    """The layers of the text decoder, without what PEFT has put into them."""
    for name, layer in model.get_decoder().named_modules():
        if WRAPPED.isdisjoint(name.split(".")):
            yield name, layer


def explain_unroutable(model: Module, target: str) -> str | None:
    """Why layers of this name cannot have an adapter for one job. None if they can."""
    layers = find_layers(model, target)
    if is_moved(model, target) or any(EXPERTS in name.split(".") for name in layers):
        return "is part of the model's experts, which not all tokens pass through"
    if not layers:
        return "is not a layer of the model"
    return None if all(isinstance(layer, Linear | lora.Linear) for layer in layers.values()) else "is no linear layer"


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


def list_outside(model: PreTrainedModel) -> list[str]:
    """The names of layers that are neither in the text decoder nor its head, such as those of a vision tower. Rows of
    text do not reach them, and engines do not adapt them."""
    parts = [part for part in (model.get_decoder(), model.get_output_embeddings()) if part is not None]
    kept = {id(layer) for part in parts for layer in part.modules()}
    return [name for name, layer in model.named_modules() if isinstance(layer, Linear) and id(layer) not in kept]


def measure_coverage(model: PreTrainedModel, targets: Sequence[str]) -> Coverage:
    """Counts the matrices of the text decoder, without its embeddings and convolutions."""
    left_out, sizes = set(), {True: 0, False: 0}
    for layer_name, layer in list_decoder_layers(model):
        if isinstance(layer, Embedding) or "conv" in type(layer).__name__.lower():
            continue
        covered = any(f".{layer_name}".endswith(f".{target}") for target in targets)
        for name, weight in list_matrices(layer):
            sizes[covered] += weight
            if not covered:
                left_out.add(shorten(layer_name) if name == "weight" else f"{shorten(layer_name)}.{name}")
    return Coverage(tuple(sorted(left_out)), sizes[False] / max(1, sum(sizes.values())))


def list_matrices(layer: Module) -> Iterator[tuple[str, int]]:
    """The names and sizes of a layer's own matrices. A layer with adapters has its own weights deeper inside."""
    weights = layer.base_layer if isinstance(layer, lora.Linear) else layer
    for name, parameter in weights.named_parameters(recurse=False):
        if parameter.dim() > 1:
            yield name, parameter.numel()


def shorten(name: str) -> str:
    return name.rpartition(".")[2]

"""A random adapter, as a trainer of the base model would write one."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.nn import Linear

from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.names import PEFT_PREFIX
from trainyard_base_model.outline import Outline
from trainyard_base_model.targets import choose_targets, find_layers, list_outside

SEED = 0
# The adapter adds about this part of a layer's usual output: far more than rounding, and too little to overflow.
STRENGTH = 0.5


def write_random_adapter(outline: Outline, lora: LoraSettings, folder: Path) -> list[str]:
    """Returns the names of its layers, as in the file. Raises UnusableTarget."""
    random = torch.Generator().manual_seed(SEED)
    targets = choose_targets(outline.model, lora.target_modules)
    tensors: dict[str, torch.Tensor] = {}
    names = []
    for layer_name, layer in list_adapted(outline, targets):
        name = outline.names.to_file(f"{PEFT_PREFIX}{layer_name}.")
        names.append(name.removeprefix(PEFT_PREFIX).rstrip("."))
        down = torch.randn(lora.rank, layer.in_features, generator=random) / layer.in_features**0.5
        up = torch.randn(layer.out_features, lora.rank, generator=random) * STRENGTH / lora.rank**0.5
        tensors |= {f"{name}lora_A.weight": down, f"{name}lora_B.weight": up}
    save_file(tensors, folder / ADAPTER_WEIGHTS)
    config = {"peft_type": "LORA", "r": lora.rank, "lora_alpha": lora.rank, "target_modules": list(targets)}
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config))
    return names


def list_adapted(outline: Outline, targets: tuple[str, ...]) -> list[tuple[str, Linear]]:
    outside = set(list_outside(outline.model))
    found = [layer for target in targets for layer in find_layers(outline.model, target).items()]
    return [(name, layer) for name, layer in found if isinstance(layer, Linear) and name not in outside]

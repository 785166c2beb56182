"""Adapters in files, in PEFT's own layout, with the optimizer's state beside them."""

import json
import os
import re
from pathlib import Path

from peft import LoraConfig
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, OPTIMIZER_STATE
from trainyard_trainer.compute.optimizer import RL
from trainyard_trainer.compute.slots import AdapterState, Shape, Tensors, describe_adapter
from trainyard_trainer.failures import JobFailure

METHOD = "method"
OS_ERROR = re.compile(r"os error (\d+)")


def save_adapter(state: AdapterState, shape: Shape, base_name: str, folder: Path) -> None:
    """As PEFT and vLLM read it, always in float32; the same weights give the same bytes."""
    save_tensors(state.weights, folder / ADAPTER_WEIGHTS, {"format": "pt"})
    config = describe_adapter(shape).to_dict()
    config["base_model_name_or_path"] = base_name
    config["target_modules"] = sorted(config["target_modules"])
    config["inference_mode"] = True
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True, default=str) + "\n")


def save_optimizer(state: AdapterState, method: str, folder: Path) -> None:
    save_tensors(state.optimizer, folder / OPTIMIZER_STATE, {METHOD: method})


def save_tensors(tensors: Tensors, path: Path, metadata: dict[str, str]) -> None:
    """Raises OSError where there is no room: safetensors only tells the number of an error, in its message."""
    try:
        save_file(dict(tensors), path, metadata=metadata)
    except SafetensorError as cause:
        if found := OS_ERROR.search(str(cause)):
            raise OSError(int(found[1]), os.strerror(int(found[1])), path.name) from cause
        raise


def read_shape(folder: Path) -> Shape:
    config = LoraConfig.from_pretrained(str(folder))
    if not isinstance(config, LoraConfig) or has_extras(config):
        message = "The checkpoint's adapter is of a kind that is not trained here: only plain LoRA is."
        raise JobFailure("Internal", "CheckpointMismatch", message, retryable=False)
    return Shape(config.r, config.lora_alpha, tuple(sorted(config.target_modules or ())), config.use_rslora)


def has_extras(config: LoraConfig) -> bool:
    patterns = config.rank_pattern or config.alpha_pattern
    return bool(config.use_dora or config.lora_bias or config.bias != "none" or patterns)


def read_adapter(folder: Path, method: str) -> AdapterState:
    """With the optimizer's state where the same method left one: older checkpoints keep only their weights."""
    state = folder / OPTIMIZER_STATE
    mine = state.exists() and read_method(state) == method
    return AdapterState(load_file(folder / ADAPTER_WEIGHTS), read_optimizer(state) if mine else {})


def read_optimizer(path: Path) -> dict:
    # Checkpoints of before have PEFT's name of the adapter in their names.
    return {name.replace(".default.", "."): tensor for name, tensor in load_file(path).items()}


def read_method(path: Path) -> str:
    """The method whose steps made a state. Only RL was there before states told."""
    with safe_open(path, framework="pt") as file:
        return (file.metadata() or {}).get(METHOD, RL.method)

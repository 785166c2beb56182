"""Adapter files in PEFT's layout, with the optimizer's state beside them."""

import json
import os
import re
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, OPTIMIZER_STATE
from trainyard_trainer.compute.model.slots import AdapterState, Shape, Tensors, describe_adapter
from trainyard_trainer.data.json_input import is_number
from trainyard_trainer.failures import JobFailure

METHOD = "method"
# The same limit as a BaseModel's. A slot of the rank is created before the weights are read.
MAX_RANK, MAX_TARGETS = 512, 64
# These settings make an adapter more than plain LoRA, or name something to load. False and empty values count as
# absent.
EXTRAS = (
    "alpha_pattern auto_mapping corda_config eva_config exclude_modules fan_in_fan_out layer_replication "
    "layers_pattern layers_to_transform lora_bias loftq_config megatron_config modules_to_save "
    "rank_pattern target_parameters trainable_token_indices use_dora use_qalora"
).split()
OS_ERROR = re.compile(r"os error (\d+)")


def save_adapter(state: AdapterState, shape: Shape, base_name: str, folder: Path) -> None:
    """Saves an adapter as PEFT and vLLM read it, always in float32. The same weights give the same bytes."""
    save_tensors(state.weights, folder / ADAPTER_WEIGHTS, {"format": "pt"})
    config = describe_adapter(shape).to_dict()
    config["base_model_name_or_path"] = base_name
    config["target_modules"] = sorted(config["target_modules"])
    config["inference_mode"] = True
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True, default=str) + "\n")


def save_optimizer(state: AdapterState, method: str, folder: Path) -> None:
    save_tensors(state.optimizer, folder / OPTIMIZER_STATE, {METHOD: method})


def save_tensors(tensors: Tensors, path: Path, metadata: dict[str, str]) -> None:
    """Raises OSError on a full disk. safetensors only has the error number in its message."""
    try:
        save_file(dict(tensors), path, metadata=metadata)
    except SafetensorError as cause:
        if found := OS_ERROR.search(str(cause)):
            raise OSError(int(found[1]), os.strerror(int(found[1])), path.name) from cause
        raise


def read_shape(folder: Path) -> Shape:
    """Reads only the shape. A file may also name a base model or code, which is ignored. Raises JobFailure, or
    ValueError, KeyError or TypeError for a file that is not an adapter's configuration."""
    config = json.loads((folder / ADAPTER_CONFIG).read_bytes())
    rank, alpha, targets = config["r"], config["lora_alpha"], config["target_modules"]
    if not is_plain(config) or not is_number(alpha) or not is_list_of_names(targets):
        message = "The checkpoint's adapter type is not supported: only plain LoRA is."
        raise make_checkpoint_error(message)
    if type(rank) is not int or not 1 <= rank <= MAX_RANK:
        raise make_checkpoint_error(
            f"The checkpoint's adapter has rank {rank}; the supported ranks are 1 to {MAX_RANK}."
        )
    return Shape(rank, alpha, tuple(sorted(targets)), bool(config.get("use_rslora")))


def is_plain(config: dict) -> bool:
    return (
        config.get("peft_type") == "LORA"
        and config.get("bias") in (None, "none")
        and not any(config.get(name) for name in EXTRAS)
    )


def is_list_of_names(targets: object) -> bool:
    return isinstance(targets, list) and len(targets) <= MAX_TARGETS and all(isinstance(name, str) for name in targets)


def make_checkpoint_error(message: str) -> JobFailure:
    return JobFailure("Internal", "CheckpointMismatch", message, retryable=False)


def read_adapter(folder: Path, method: str) -> AdapterState:
    """Reads the optimizer's state too, if the same method saved one."""
    state = folder / OPTIMIZER_STATE
    mine = state.exists() and read_method(state) == method
    return AdapterState(load_file(folder / ADAPTER_WEIGHTS), load_file(state) if mine else {})


def read_method(path: Path) -> str:
    """The method that made the state."""
    with safe_open(path, framework="pt") as file:
        return file.metadata()[METHOD]

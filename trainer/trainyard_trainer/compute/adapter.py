"""The base model, loaded once, and the LoRA adapter that is put on it for one job."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from peft.tuners.lora import LoraLayer
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar

from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from trainyard_trainer.config import LoraSettings
from trainyard_trainer.failures import JobFailure

# Every untrained adapter of one base model and LoRA setting is the same, so that a repeated job repeats its result.
INITIAL_SEED = 0


@dataclass(frozen=True)
class Base:
    """A loaded base model. Its own weights never change."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device

    @property
    def gpus(self) -> int:
        """How many GPUs the trainer works with."""
        return 1 if self.device.type == "cuda" else 0


def load_base(name: str, path: str) -> Base:
    """float32 on the CPU, as the engine serves it there, so that log-probabilities agree; bfloat16 on a GPU."""
    disable_progress_bar()  # standard error is for what went wrong
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    dtype = torch.bfloat16 if cuda else torch.float32
    model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype).to(device)
    model.requires_grad_(False)
    model.config.use_cache = False
    return Base(name, model, AutoTokenizer.from_pretrained(path), device)


def describe_lora(lora: LoraSettings) -> LoraConfig:
    return LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        target_modules=list(lora.target_modules),
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
    )


@contextmanager
def open_adapter(base: Base, lora: LoraSettings, checkpoint: Path | None) -> Iterator[PeftModel]:
    """The base with an adapter on it: the checkpoint's, or an untrained one. Taken off again at the end."""
    config = LoraConfig.from_pretrained(str(checkpoint)) if checkpoint else describe_lora(lora)
    config.inference_mode = False
    config.base_model_name_or_path = base.model.name_or_path  # here its path, in checkpoints its public name
    torch.manual_seed(INITIAL_SEED)
    model = get_peft_model(base.model, config)
    try:
        if checkpoint:
            load_weights(model, checkpoint)
        model.train()
        yield model
    finally:
        model.unload()
        base.model.requires_grad_(False)


def interrupt_layers(model: PeftModel, check: Callable[[], None]) -> None:
    """Calls `check` at every adapted layer, forward and backward, so that not even a long batch outlives its job."""

    def watch(_module: torch.nn.Module, _inputs: tuple, output: torch.Tensor) -> None:
        check()
        if output.requires_grad:
            output.register_hook(lambda _gradient: check())

    for module in model.modules():
        if isinstance(module, LoraLayer):
            module.register_forward_hook(watch)  # goes with the layer when the adapter is taken off


def load_weights(model: PeftModel, checkpoint: Path) -> None:
    result = set_peft_model_state_dict(model, load_file(checkpoint / ADAPTER_WEIGHTS))
    if result.unexpected_keys:
        message = f"The checkpoint {checkpoint.name} holds weights that this base model does not have."
        raise JobFailure("Internal", "CheckpointMismatch", message, retryable=False)


def save_adapter(model: PeftModel, base_name: str, folder: Path) -> None:
    """PEFT's own layout, always float32; the same weights give the same bytes."""
    weights = {
        name: tensor.detach().to("cpu", torch.float32).contiguous()
        for name, tensor in get_peft_model_state_dict(model).items()
    }
    save_file(weights, folder / ADAPTER_WEIGHTS, metadata={"format": "pt"})
    config = model.peft_config["default"].to_dict()
    config["base_model_name_or_path"] = base_name
    config["target_modules"] = sorted(config["target_modules"])
    config["inference_mode"] = True
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True, default=str) + "\n")

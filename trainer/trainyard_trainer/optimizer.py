"""AdamW over an adapter's weights, and its state beside the adapter, so that the next job goes on where this ended."""

import math
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file

from trainyard_artifacts.checkpoints import OPTIMIZER_STATE
from trainyard_trainer.failures import InvalidInput

# ART's values for RL.
BETAS = (0.9, 0.99)
WEIGHT_DECAY = 0.1
MAX_GRAD_NORM = 0.1
STATE_NAMES = ("exp_avg", "exp_avg_sq", "step")


def list_trainable(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def build_optimizer(model: PeftModel, learning_rate: float, checkpoint: Path | None) -> torch.optim.AdamW:
    """With the checkpoint's state where it has one: older checkpoints keep only their weights."""
    parameters = list_trainable(model)
    optimizer = torch.optim.AdamW(parameters.values(), lr=learning_rate, betas=BETAS, weight_decay=WEIGHT_DECAY)
    if checkpoint and (checkpoint / OPTIMIZER_STATE).exists():
        load_state(optimizer, parameters, load_file(checkpoint / OPTIMIZER_STATE))
    return optimizer


def load_state(
    optimizer: torch.optim.AdamW, parameters: dict[str, torch.nn.Parameter], tensors: dict[str, torch.Tensor]
) -> None:
    for name, parameter in parameters.items():
        state = {kind: tensors[f"{name}.{kind}"] for kind in STATE_NAMES if f"{name}.{kind}" in tensors}
        if len(state) == len(STATE_NAMES):
            step = state.pop("step")
            optimizer.state[parameter] = {kind: value.to(parameter.device) for kind, value in state.items()}
            optimizer.state[parameter]["step"] = step


def save_optimizer(optimizer: torch.optim.AdamW, model: PeftModel, folder: Path) -> None:
    tensors = {
        f"{name}.{kind}": value.detach().to("cpu").contiguous()
        for name, parameter in list_trainable(model).items()
        for kind, value in optimizer.state.get(parameter, {}).items()
    }
    save_file(tensors, folder / OPTIMIZER_STATE)


def take_step(optimizer: torch.optim.AdamW, model: PeftModel) -> float:
    """Clips, steps and clears the gradients; gives their norm before the clipping."""
    norm = torch.nn.utils.clip_grad_norm_(list_trainable(model).values(), MAX_GRAD_NORM).item()
    if not math.isfinite(norm):
        raise diverge("gradient")
    optimizer.step()
    optimizer.zero_grad()
    return norm


def diverge(what: str) -> InvalidInput:
    return InvalidInput(
        f"The {what} is not a finite number: check the log-probabilities that were sent, or lower the learning rate.",
        "Diverged",
    )

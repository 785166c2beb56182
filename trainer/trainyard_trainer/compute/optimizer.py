"""AdamW over an adapter's weights, and its state beside the adapter, so that the next job goes on where this ended."""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import PeftModel
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from trainyard_artifacts.checkpoints import OPTIMIZER_STATE
from trainyard_trainer.failures import InvalidInput

BETAS = (0.9, 0.99)
STATE_NAMES = ("exp_avg", "exp_avg_sq", "step")
METHOD = "method"


@dataclass(frozen=True)
class Recipe:
    """How a method takes its optimizer steps."""

    method: str
    weight_decay: float
    max_grad_norm: float


# ART's values.
RL = Recipe("RL", weight_decay=0.1, max_grad_norm=0.1)
SFT = Recipe("SFT", weight_decay=0.0, max_grad_norm=1.0)


def list_trainable(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def build_optimizer(model: PeftModel, recipe: Recipe, checkpoint: Path | None) -> torch.optim.AdamW:
    """With the checkpoint's state where the same method left one: older checkpoints keep only their weights."""
    parameters = list_trainable(model)
    optimizer = torch.optim.AdamW(parameters.values(), betas=BETAS, weight_decay=recipe.weight_decay)
    state = checkpoint / OPTIMIZER_STATE if checkpoint else None
    if state and state.exists() and read_method(state) == recipe.method:
        load_state(optimizer, parameters, load_file(state))
    return optimizer


def read_method(state: Path) -> str:
    """The method whose steps made a state. Only RL was there before states told."""
    with safe_open(state, framework="pt") as file:
        return (file.metadata() or {}).get(METHOD, RL.method)


def load_state(
    optimizer: torch.optim.AdamW, parameters: dict[str, torch.nn.Parameter], tensors: dict[str, torch.Tensor]
) -> None:
    for name, parameter in parameters.items():
        state = {kind: tensors[f"{name}.{kind}"] for kind in STATE_NAMES if f"{name}.{kind}" in tensors}
        if len(state) == len(STATE_NAMES):
            step = state.pop("step")
            optimizer.state[parameter] = {kind: value.to(parameter.device) for kind, value in state.items()}
            optimizer.state[parameter]["step"] = step


def save_optimizer(optimizer: torch.optim.AdamW, model: PeftModel, recipe: Recipe, folder: Path) -> None:
    tensors = {
        f"{name}.{kind}": value.detach().to("cpu").contiguous()
        for name, parameter in list_trainable(model).items()
        for kind, value in optimizer.state.get(parameter, {}).items()
    }
    save_file(tensors, folder / OPTIMIZER_STATE, metadata={METHOD: recipe.method})


def take_step(optimizer: torch.optim.AdamW, model: PeftModel, recipe: Recipe, learning_rate: float) -> float:
    """Clips, steps and clears the gradients; gives their norm before the clipping."""
    norm = torch.nn.utils.clip_grad_norm_(list_trainable(model).values(), recipe.max_grad_norm).item()
    if not math.isfinite(norm):
        raise diverge("gradient")
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    optimizer.step()
    optimizer.zero_grad()
    return norm


def require_finite(model: PeftModel) -> None:
    """Weights that are no numbers would make a checkpoint that answers nothing."""
    if not all(parameter.isfinite().all() for parameter in list_trainable(model).values()):
        raise diverge("adapter")


def diverge(what: str) -> InvalidInput:
    return InvalidInput(
        f"The {what} is not finite: lower the learning rate, and for RL check the log-probabilities that were sent.",
        "Diverged",
    )

"""AdamW over an adapter's weights. Its state is saved by name, so that the next job can continue."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import AdamW

from trainyard_trainer.failures import InvalidInput

BETAS = (0.9, 0.99)
STATE_NAMES = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True)
class Recipe:
    """How a method steps its optimizer."""

    method: str
    weight_decay: float
    max_grad_norm: float


Parameters = Mapping[str, torch.nn.Parameter]


def build_optimizer(parameters: Parameters) -> AdamW:
    """Builds the optimizer of a slot. Recipe and learning rate are set at each step."""
    return AdamW(parameters.values(), betas=BETAS, fused=True)


def load_state(optimizer: AdamW, parameters: Parameters, tensors: Mapping[str, Tensor]) -> None:
    """Loads the state of a checkpoint. Parameters without a state start with none."""
    optimizer.state.clear()
    for name, parameter in parameters.items():
        state = {kind: tensors[f"{name}.{kind}"] for kind in STATE_NAMES if f"{name}.{kind}" in tensors}
        if len(state) == len(STATE_NAMES):
            optimizer.state[parameter] = {kind: value.to(parameter.device).clone() for kind, value in state.items()}


def read_state(optimizer: AdamW, parameters: Parameters) -> dict[str, Tensor]:
    """A copy of the state, by name, on the CPU."""
    return {
        f"{name}.{kind}": value.detach().to("cpu", copy=True).contiguous()
        for name, parameter in parameters.items()
        for kind, value in optimizer.state.get(parameter, {}).items()
    }


def step_optimizer(optimizer: AdamW, parameters: Parameters, recipe: Recipe, learning_rate: float) -> float:
    """Clips the gradients, steps, and clears them. Returns the norm before clipping."""
    norm = torch.nn.utils.clip_grad_norm_(parameters.values(), recipe.max_grad_norm).item()
    if not math.isfinite(norm):
        raise diverge("gradient")
    for group in optimizer.param_groups:
        group["lr"], group["weight_decay"] = learning_rate, recipe.weight_decay
    optimizer.step()
    optimizer.zero_grad()
    return norm


def require_finite(weights: Mapping[str, Tensor]) -> None:
    """A checkpoint with non-finite weights could not answer anything."""
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise diverge("adapter")


def diverge(what: str) -> InvalidInput:
    return InvalidInput(
        f"The {what} is not finite: lower the learning rate, and check the log-probabilities if the job has some.",
        "Diverged",
    )

"""TRL's side of the comparisons: the same model and adapter, in float32, without gradient checkpointing."""

from tempfile import TemporaryDirectory

import torch
from peft import PeftModel, get_peft_model, set_peft_model_state_dict
from transformers import AutoModelForCausalLM

from bench.ours import MODEL, SHAPE, make_states
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.model.optimizer import BETAS, Recipe
from trainyard_trainer.compute.model.slots import AdapterState, describe_adapter

# TRL would write here. The folder is removed when the process ends.
OUTPUT = TemporaryDirectory(prefix="trainyard-bench-")


def load_adapted() -> tuple[PeftModel, AdapterState]:
    """Loads the initial state of both sides. Attention is transformers' default."""
    (state,) = make_states(Executor(load_base("trainyard/tiny-chat", Source(str(MODEL)))), 1)
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    model.config.use_cache = False
    return get_peft_model(model, describe_adapter(SHAPE)), state


def fill(model: PeftModel, state: AdapterState) -> None:
    set_peft_model_state_dict(model, dict(state.weights))


def describe_training(recipe: Recipe, learning_rate: float) -> dict:
    """TRL's defaults, except for what must be the same on both sides, and for what is slow on a CPU."""
    return {
        "output_dir": OUTPUT.name,
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "learning_rate": learning_rate,
        "lr_scheduler_type": "constant",
        "adam_beta1": BETAS[0],
        "adam_beta2": BETAS[1],
        "weight_decay": recipe.weight_decay,
        "max_grad_norm": recipe.max_grad_norm,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "logging_steps": 1,
    }

"""Small models with random weights on the GPU. Their shapes fit the GPU's kernels."""

from typing import cast

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerBase

from testing.tiny_models import CONFIGS
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import forbid_dropout, prepare
from trainyard_trainer.compute.model.sharding import get_head

# The maximum differences of a loss, and of a gradient's length. They depend on the kernels' type.
LOSS_DIFFERENCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2}
GRADIENT_DIFFERENCE = {torch.float32: 1e-3, torch.bfloat16: 0.15}
TYPES = [torch.float32, torch.bfloat16]
DEVICE = torch.device("cuda")
WIDE = {"hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4, "initializer_range": 0.1}


def load(name: str, dtype: torch.dtype, **changes: object) -> Base:
    """Loads a model like the trainer, but without the preparation. The weights are the same each time."""
    torch.manual_seed(0)
    given = CONFIGS[name].to_dict() | WIDE | changes
    config = CONFIGS[name].__class__.from_dict(given)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.requires_grad_(False)
    model.config.use_cache = False
    torch.nn.Module.to(model, DEVICE).train()
    forbid_dropout(model)
    tokenizer = cast(PreTrainedTokenizerBase, None)  # there is no text here
    return Base(name, model, tokenizer, DEVICE, get_head(model).out_features)


def load_prepared(name: str, dtype: torch.dtype, **changes: object) -> Base:
    return prepare(load(name, dtype, **changes))

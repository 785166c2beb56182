"""A base model as trainers load it, without its weights."""

from dataclasses import dataclass

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from trainyard_base_model.names import AdapterNames, find_names


@dataclass(frozen=True)
class Outline:
    """`model` is on the meta device."""

    model: PreTrainedModel
    names: AdapterNames


def build_outline(folder: str, *, trust_remote_code: bool) -> Outline:
    config = AutoConfig.from_pretrained(folder, trust_remote_code=trust_remote_code)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code)
    return Outline(model, find_names(config, model))

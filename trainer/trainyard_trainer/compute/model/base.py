"""The base model. Its own weights never change."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from trainyard_base_model.names import AdapterNames
from trainyard_trainer.compute.model.sharding import get_head


@dataclass(frozen=True)
class Base:
    """A loaded base model. `packs` says whether rows without padding give its numbers (see `probe.py`)."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    vocabulary: int
    packs: bool = True
    adapter_names: AdapterNames = field(default_factory=AdapterNames)

    @property
    def decoder(self) -> torch.nn.Module:
        """Maps tokens to hidden states."""
        return self.model.get_decoder()

    def head(self, hidden_N_D: Tensor) -> Tensor:
        """Maps hidden states to logits [N, V]."""
        return get_head(self.model).forward(hidden_N_D)  # without hooks: FSDP would gather it for each chunk of tokens

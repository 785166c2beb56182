"""The names of adapter weights in files.

Engines know the layers by their names in the weights of the model's repository. Trainers load only the text decoder
of some models (Qwen3.5), whose layers have shorter names: `model.layers…` and not `model.language_model.layers…`. An
engine ignores names that it does not know, and the adapter would change nothing.
"""

from dataclasses import dataclass

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import AutoConfig

PEFT_PREFIX = "base_model.model."


@dataclass(frozen=True)
class AdapterNames:
    """`decoder` is the decoder's name in the trainer's model, `stored` its name in the model of the repository."""

    decoder: str = ""
    stored: str = ""

    def to_file(self, name: str) -> str:
        """The name in files, of a name in PEFT's checkpoints or in files."""
        start, stored = f"{PEFT_PREFIX}{self.decoder}.", f"{PEFT_PREFIX}{self.stored}."
        if self.decoder == self.stored or name.startswith(stored) or not name.startswith(start):
            return name
        return stored + name.removeprefix(start)


def find_names(config: PreTrainedConfig, model: PreTrainedModel) -> AdapterNames:
    """`config` is the repository's, `model` was loaded from it, perhaps on the meta device."""
    architecture = getattr(transformers, (config.architectures or [""])[0], None)
    if architecture is None or isinstance(model, architecture) or not issubclass(architecture, PreTrainedModel):
        return AdapterNames()
    with torch.device("meta"):
        whole = architecture(config)
    own = find_module(model, type(model.get_decoder()))
    stored = find_module(whole, type(model.get_decoder()))
    return AdapterNames() if own is None or stored is None else AdapterNames(own, stored)


def find_module(model: PreTrainedModel, kind: type) -> str | None:
    return next((name for name, module in model.named_modules() if type(module) is kind), None)


def load_names(folder: str, model: PreTrainedModel, *, trust_remote_code: bool) -> AdapterNames:
    return find_names(AutoConfig.from_pretrained(folder, trust_remote_code=trust_remote_code), model)

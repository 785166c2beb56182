"""Loads the base model once, and chooses the fast paths that work for it."""

from dataclasses import dataclass, replace

import torch
from torch.distributed.device_mesh import DeviceMesh
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from trainyard_base_model.names import load_names
from trainyard_trainer import log
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.kernels import apply_liger, fuse
from trainyard_trainer.compute.model.probe import choose_packing
from trainyard_trainer.compute.model.sharding import get_head, shard_base
from trainyard_trainer.compute.rows.attention import NAME, UnsupportedAttention

# Only this attention of transformers supports everything that a model may need: others silently ignore a soft cap.
EAGER = "eager"


@dataclass(frozen=True)
class Source:
    """The folder of a base model, and whether its code may run."""

    path: str
    trust_remote_code: bool = False


def load_base(name: str, source: Source, mesh: DeviceMesh | None = None) -> Base:
    """Loads in float32 on a CPU, as the engine does there, so that log-probabilities agree; in bfloat16 on a GPU.

    Reads only safetensors, and runs no code of the model's repository unless the administrator trusts it. The processes
    of a mesh share the weights.
    """
    disable_progress_bar()  # standard error is for errors
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", torch.cuda.current_device()) if cuda else torch.device("cpu")
    options = {"trust_remote_code": source.trust_remote_code}
    model = AutoModelForCausalLM.from_pretrained(
        source.path, dtype=torch.bfloat16 if cuda else torch.float32, use_safetensors=True, **options
    )
    # FSDP changes the classes, by which the names are found.
    names = load_names(source.path, model, trust_remote_code=source.trust_remote_code)
    model.requires_grad_(False)
    model.config.use_cache = False
    if mesh:
        shard_base(model, mesh)
    torch.nn.Module.to(model, device)
    model.train()  # gradient checkpointing requires it
    forbid_dropout(model)
    tokenizer = AutoTokenizer.from_pretrained(source.path, **options)
    base = Base(name, model, tokenizer, device, get_head(model).out_features, adapter_names=names)
    return prepare(base)


def forbid_dropout(model: torch.nn.Module) -> None:
    """Disables dropout: the policy must be trained as it was sampled, and a repeated job must give the same weights."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        for name in [name for name, value in vars(module).items() if "drop" in name and isinstance(value, float)]:
            setattr(module, name, 0.0)


def prepare(base: Base) -> Base:
    """Chooses the fast paths that give the plain path's numbers on this model and device."""
    if base.device.type == "cuda":
        base.model.gradient_checkpointing_enable({"use_reentrant": False})
    own = base.model.config._attn_implementation or EAGER
    try:
        base.model.set_attn_implementation(NAME)
    except ValueError:  # a model with its own attention
        return replace(base, packs=False)
    try:
        packs = choose_packing(base)
    except UnsupportedAttention as cause:
        log.warn("rows are padded: the model's attention differs from packed attention", error=str(cause))
        packs, own = False, EAGER
    if not packs:
        base.model.set_attn_implementation(own)
    base = replace(base, packs=packs)
    if base.device.type == "cuda":
        fuse(base, apply_liger)
    return base

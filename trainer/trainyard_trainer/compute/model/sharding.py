"""A sharded base model: each process has a shard of every layer, and gathers a layer to compute it.

PyTorch's FSDP2 does the work. Only the base is sharded, because it never changes. Adapters are added later, are not
sharded, and are whole in every process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from transformers import PreTrainedModel


def shard_base(model: PreTrainedModel, mesh: DeviceMesh) -> None:
    """Moves the model to the mesh's devices, one layer at a time."""
    # With this, every layer has a backward pass, whatever layers the adapters in the processes' passes use.
    model.enable_input_require_grads()
    for layer in find_layers(model):
        fully_shard(layer, mesh=mesh)
    embedding, head = model.get_input_embeddings(), get_head(model)
    if embedding.weight is head.weight:  # tied weights must be gathered together
        fully_shard([embedding, head], mesh=mesh, reshard_after_forward=False)
    else:
        fully_shard(embedding, mesh=mesh)
        fully_shard(head, mesh=mesh, reshard_after_forward=False)
    fully_shard(model.get_decoder(), mesh=mesh)  # the other layers, such as the last norm


def find_layers(model: PreTrainedModel) -> list[nn.Module]:
    """Layers that transformers itself never splits between devices."""
    names = set(model._no_split_modules or ())
    return [module for module in model.get_decoder().modules() if type(module).__name__ in names]


def get_head(model: PreTrainedModel) -> nn.Linear:
    """Maps hidden states to logits."""
    return cast(nn.Linear, model.get_output_embeddings())


@contextmanager
def gather_head(model: PreTrainedModel) -> Iterator[None]:
    """Gathers the output embedding once for the whole pass, because the processes use it for different numbers of
    chunks.

    Afterwards everything is sharded again, even layers without a backward pass.
    """
    shards = [module for module in model.modules() if isinstance(module, FSDPModule)]
    head = get_head(model)
    if isinstance(head, FSDPModule):
        head.unshard()
    try:
        yield
    finally:
        for module in shards:
            module.reshard()

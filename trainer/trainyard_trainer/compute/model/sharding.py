"""A base model in parts: each process keeps its share of every layer, and gathers a layer when it computes it.

PyTorch's FSDP2 does the work. Only the base is sharded, which never changes; adapters are put on later, belong to no
shard, and are whole in every process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from transformers import PreTrainedModel


def shard_base(model: PreTrainedModel, mesh: DeviceMesh) -> None:
    """Moves the model to the mesh's devices, a layer at a time."""
    # Every layer has a backward pass then, whatever layers the adapters of the processes' passes are on.
    model.enable_input_require_grads()
    for layer in find_layers(model):
        fully_shard(layer, mesh=mesh)
    embedding, head = model.get_input_embeddings(), get_head(model)
    if embedding.weight is head.weight:  # weights that are tied must be gathered together
        fully_shard([embedding, head], mesh=mesh, reshard_after_forward=False)
    else:
        fully_shard(embedding, mesh=mesh)
        fully_shard(head, mesh=mesh, reshard_after_forward=False)
    fully_shard(model.get_decoder(), mesh=mesh)  # what is left, as the last norm


def find_layers(model: PreTrainedModel) -> list[nn.Module]:
    """What transformers itself never spreads over devices."""
    names = set(model._no_split_modules or ())
    return [module for module in model.get_decoder().modules() if type(module).__name__ in names]


def get_head(model: PreTrainedModel) -> nn.Linear:
    """From hidden states to logits."""
    return cast(nn.Linear, model.get_output_embeddings())


@contextmanager
def gather_head(model: PreTrainedModel) -> Iterator[None]:
    """The output embedding, once for the whole pass: processes use it as often as they have chunks of tokens.

    Afterwards everything is in parts again, also what no backward pass went through.
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

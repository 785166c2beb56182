"""Which layers of an adapter a worker of vLLM applies. vLLM ignores the others without a word."""

from dataclasses import dataclass

from vllm.lora.lora_weights import PackedLoRALayerWeights
from vllm.lora.model_manager import LoRAModelManager


@dataclass(frozen=True)
class AppliedLayers:
    """Names as in vLLM's model. `applied` has one entry for each layer of the adapter, also of fused ones."""

    applied: frozenset[str]
    ignored: frozenset[str]


def find_applied_layers(manager: LoRAModelManager, adapter: int) -> AppliedLayers:
    loaded = manager.get_adapter(adapter)
    layers = loaded.loras if loaded else {}
    applied = [
        f"{name}#{index}"
        for name, weights in layers.items()
        if name in manager.modules
        for index, _ in enumerate(weights.lora_a if isinstance(weights, PackedLoRALayerWeights) else [weights.lora_a])
        if not isinstance(weights, PackedLoRALayerWeights) or weights.lora_a[index] is not None
    ]
    return AppliedLayers(frozenset(applied), frozenset(layers.keys() - manager.modules.keys()))


def merge_workers(found: list[AppliedLayers]) -> AppliedLayers:
    """With pipeline parallelism, each worker has only some of the model's layers."""
    applied = frozenset[str]().union(*(each.applied for each in found))
    return AppliedLayers(applied, frozenset.intersection(*(each.ignored for each in found)))

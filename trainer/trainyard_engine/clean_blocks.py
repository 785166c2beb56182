"""No request reads what another one has left in the key-value cache.

Attention also reads the unused rest of a block, with a weight of 0. 0 times NaN or infinity is NaN, so an adapter that
overflows would spoil the answers of whoever gets its blocks next. vLLM clears blocks before they are used again only
for some models. Here it does for all.
"""

import torch
from vllm.v1.kv_cache_interface import AttentionSpec, KVCacheConfig
from vllm.v1.worker import gpu_model_runner
from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm.v1.worker.gpu.sample import sampler


def keep_blocks_clean() -> None:
    """For the processes of the scheduler and of the workers."""
    setattr(KVCacheConfig, "needs_kv_cache_zeroing", property(lambda _: True))  # noqa: B010  # it has no setter
    CPUModelRunner._zero_block_ids = clear_blocks
    gpu_model_runner.count_nans_per_row = count_unusable
    setattr(sampler, "get_num_nans", count_unusable)  # noqa: B010  # it is imported there


def clear_blocks(self: CPUModelRunner, block_ids: list[int]) -> None:
    """vLLM's own leaves out the layers with a window."""
    layers = self.compilation_config.static_forward_context
    caches = {
        cache.data_ptr(): cache
        for group in self.kv_cache_config.kv_cache_groups
        if isinstance(group.kv_cache_spec, AttentionSpec)
        for name in group.layer_names
        if isinstance(cache := getattr(layers.get(name), "kv_cache", None), torch.Tensor)
    }
    for cache in caches.values():
        cache[block_ids] = 0


def count_unusable(logits_BxV: torch.Tensor) -> torch.Tensor:
    """How many logits of each row [B] are NaN or positive infinity, from which no token can be sampled."""
    return (logits_BxV.isnan() | logits_BxV.isposinf()).sum(dim=-1, dtype=torch.int32)

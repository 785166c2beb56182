"""Attention over a row on a GPU: flex attention, compiled, with the row's visibility as a block mask."""

from functools import cache

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from trainyard_trainer.compute.layout import SHARED, Layout


@cache
def compile_flex() -> tuple:
    """Compiled once per process; lengths of rows differ, so that shapes are dynamic."""
    return torch.compile(flex_attention, dynamic=True), torch.compile(create_block_mask, dynamic=True)


def build_block_mask(layout: Layout, window: int | None) -> BlockMask:
    """Blocks of the row that nobody sees are never computed."""
    family, branch, position = layout.family_T, layout.branch_T, layout.positions_T

    def is_seen(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        own = (branch[key] == branch[query]) | (branch[key] == SHARED)
        seen = (family[key] == family[query]) & own & (position[key] <= position[query])
        return seen if window is None else seen & (position[query] - position[key] < window)

    _, create = compile_flex()
    length = layout.num_tokens
    return create(is_seen, None, None, length, length, device=family.device)


def attend_by_flex(query: Tensor, key: Tensor, value: Tensor, scaling: float | None, mask: BlockMask) -> Tensor:
    """[1, H, T, D] queries, [1, G, T, D] keys and values to [1, T, H, D]."""
    flex, _ = compile_flex()
    return flex(query, key, value, block_mask=mask, scale=scaling, enable_gqa=True).transpose(1, 2)

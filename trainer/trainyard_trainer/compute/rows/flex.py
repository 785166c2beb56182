"""Attention over a row on a GPU: compiled flex attention, with the row's visibility as a block mask."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention
from torch.nn.functional import pad

from trainyard_trainer.compute.rows.layout import SHARED, Layout

# Queries and keys of one block, as flex attention has it. Rows are filled up to whole ones, and to two: a compiler
# makes a case of its own of a dimension of 1, and flex attention another one of rows that are shorter than a block.
BLOCK, MIN_BLOCKS = 128, 2
# Tensor cores multiply no narrower matrices; narrower heads are filled up with zeros, which change no product.
MIN_HEAD_WIDTH = 16
# Larger than any distance between two tokens. So layers with and without windows use one mask, and one compilation.
NO_WINDOW = 1 << 30
# The token pairs that are compared at once for a mask. The whole mask of a long row would take gigabytes.
PAIRS = 1 << 23
# Gradients or none, which of query, key and value have one, first lengths: each is compiled for. Beyond it, torch would
# compute without compiling, with all scores of a row in memory; a whole graph fails instead.
MAX_COMPILATIONS = 64

Visibility = Callable[[Tensor | None, Tensor | None, Tensor, Tensor], Tensor]


@cache
def compile_flex() -> Callable[..., Tensor]:
    """Once per process. From the second length on, torch compiles for all lengths. If it did so from the
    first, it would make the scaling a variable, too."""
    # torch's overloads leave the limit out.
    return torch.compile(flex_attention, fullgraph=True, recompile_limit=MAX_COMPILATIONS)  # pyright: ignore[reportCallIssue]


def build_block_mask(layout: Layout, window: int | None) -> BlockMask:
    """Builds a block mask. Blocks without a visible pair are not computed, and completely visible blocks are not
    masked."""
    length = max(MIN_BLOCKS, -(-layout.num_tokens // BLOCK)) * BLOCK
    is_seen = define_visibility(layout, window, length)
    seen_Q_K = count_seen(is_seen, length, layout.tokens_T.device)
    full_Q_K = seen_Q_K == BLOCK * BLOCK
    return BlockMask.from_kv_blocks(
        *list_blocks((seen_Q_K > 0) & ~full_Q_K),
        *list_blocks(full_Q_K),
        BLOCK_SIZE=BLOCK,
        mask_mod=is_seen,
        seq_lengths=(length, length),
    )


def define_visibility(layout: Layout, window: int | None, length: int) -> Visibility:
    """A function of positions in the row. Padding has its own family, because a query that sees nothing has no softmax.
    The function captures only tensors, because a captured number would cause a new compilation."""
    missing = length - layout.num_tokens
    family = pad(layout.family_T, (0, missing), value=-1).int()
    branch = pad(layout.branch_T, (0, missing)).int()
    position = torch.cat([layout.positions_T, torch.arange(missing, device=family.device)]).int()
    reach = torch.tensor(NO_WINDOW if window is None else window, dtype=torch.int32, device=family.device)

    def is_seen(_batch: Tensor | None, _head: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
        own = (branch[key] == branch[query]) | (branch[key] == SHARED)
        distance = position[query] - position[key]
        return (family[key] == family[query]) & own & (distance >= 0) & (distance < reach)

    return is_seen


def count_seen(is_seen: Visibility, length: int, device: torch.device) -> Tensor:
    """[Q, K] pairs that see each other in each block of queries and keys."""
    positions = torch.arange(length, device=device)
    rows = max(1, PAIRS // (length * BLOCK)) * BLOCK
    counts = [
        is_seen(None, None, queries[:, None], positions).unflatten(1, (-1, BLOCK)).unflatten(0, (-1, BLOCK)).sum((1, 3))
        for queries in positions.split(rows)
    ]
    return torch.cat(counts)


def list_blocks(chosen_Q_K: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of keys there are for each block of queries [1, 1, Q], and which, these first [1, 1, Q, K]."""
    order_Q_K = chosen_Q_K.int().argsort(dim=-1, descending=True, stable=True)
    return chosen_Q_K.sum(-1, dtype=torch.int32)[None, None], order_Q_K.int()[None, None]


def attend_by_flex(query: Tensor, key: Tensor, value: Tensor, scaling: float | None, mask: BlockMask) -> Tensor:
    """Maps [1, H, T, D] queries, [1, G, T, D] keys and values to [1, T, H, D], in the type of the values."""
    length, width = query.shape[2], value.shape[3]
    scale = query.shape[3] ** -0.5 if scaling is None else scaling
    # Under autocast, some models rotate queries and keys in float32, while values are products in bfloat16.
    tensors = [fill_up(tensor.to(value.dtype), mask.seq_lengths[0]) for tensor in (query, key, value)]
    found = compile_flex()(
        *tensors, block_mask=mask, scale=scale, enable_gqa=True, kernel_options={"FORCE_USE_FLEX_ATTENTION": True}
    )
    return found[:, :, :length, :width].transpose(1, 2)


def fill_up(tensor_1_H_T_D: Tensor, length: int) -> Tensor:
    """Pads with zeros, to this row length and to the minimum head size."""
    missing = length - tensor_1_H_T_D.shape[2]
    narrow = max(0, MIN_HEAD_WIDTH - tensor_1_H_T_D.shape[3])
    return pad(tensor_1_H_T_D, (0, narrow, 0, missing)) if missing or narrow else tensor_1_H_T_D

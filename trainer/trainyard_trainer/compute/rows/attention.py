"""Attention over a row of several examples. An example sees its family's shared prefix and itself, causally.

It is registered with transformers under NAME. Without a current row it is transformers' own scaled dot product
attention, so that the same model also computes padded batches. On a GPU, rows use flex attention (`flex.py`). On a CPU,
and where flex attention fails, they use scaled dot product attention, once for all blocks of similar length.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask
from torch.nn.functional import embedding, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from trainyard_trainer.compute.rows.flex import attend_by_flex, build_block_mask
from trainyard_trainer.compute.rows.layout import Block, Layout

NAME = "trainyard_packed"
# Arguments of models' attention that can be ignored, because they are absent or have no effect.
HARMLESS = frozenset({"position_ids", "use_cache", "is_causal", "output_attentions", "cache_position"})


class UnsupportedAttention(Exception):
    """The model's attention needs a feature that a row's attention lacks, such as a bias or a soft cap."""


@dataclass(frozen=True)
class Bucket:
    """B blocks of similar length, each padded to Q queries and K keys.

    `mask_B_1_Q_K` is None if plain causality is enough.
    """

    queries_B_Q: Tensor
    keys_B_K: Tensor
    mask_B_1_Q_K: Tensor | None
    is_query_B_Q: Tensor


@dataclass(frozen=True)
class Plan:
    """The buckets of a row. `queries_P` and `keys_R` are the positions in the row of all queries and keys; padding
    repeats a position of the same block. `order_T` is the index among the queries of each of the row's T tokens.
    Tokens are gathered once for all buckets."""

    buckets: list[Bucket]
    queries_P: Tensor
    keys_R: Tensor
    order_T: Tensor


class RowAttention:
    """The attention between the tokens of one row. It is planned once and used by every layer."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.plans: dict[int | None, Plan] = {}
        self.block_masks: dict[int | None, BlockMask] = {}
        self.masks: set[int | None] = set()
        self.windows: set[int | None] = set()

    def attend(self, query: Tensor, key: Tensor, value: Tensor, scaling: float | None, window: int | None) -> Tensor:
        """Maps [1, H, T, D] queries and [1, G, T, D] keys and values (G divides H) to [1, T, H, D]."""
        self.windows.add(window)
        if CURRENT.uses_flex:
            return attend_by_flex(query, key, value, scaling, self.block_mask(window))
        plan = self.plan(window)
        queries = gather(query, plan.queries_P).split([bucket.queries_B_Q.numel() for bucket in plan.buckets])
        keys, values = (
            gather(tensor, plan.keys_R).split([bucket.keys_B_K.numel() for bucket in plan.buckets])
            for tensor in (key, value)
        )
        found = [attend_in_bucket(*each, scaling) for each in zip(plan.buckets, queries, keys, values, strict=True)]
        return torch.cat(found)[plan.order_T].unsqueeze(0)

    def plan(self, window: int | None) -> Plan:
        if window not in self.plans:
            self.plans[window] = build_plan(self.layout, window)
        return self.plans[window]

    def block_mask(self, window: int | None) -> BlockMask:
        if window not in self.block_masks:
            self.block_masks[window] = build_block_mask(self.layout, window)
        return self.block_masks[window]


def gather(tensor_1_H_T_D: Tensor, indices_P: Tensor) -> Tensor:
    """Returns [P, H, D]. It gathers matrix rows as embeddings do, which is faster than indexing, and so is the
    gradient."""
    table_T_HD = tensor_1_H_T_D[0].transpose(0, 1).flatten(1)
    return embedding(indices_P, table_T_HD).unflatten(1, (tensor_1_H_T_D.shape[1], -1))


def attend_in_bucket(
    bucket: Bucket, query_P_H_D: Tensor, key_R_G_D: Tensor, value_R_G_D: Tensor, scaling: float | None
) -> Tensor:
    """Returns [P, H, D] for the bucket's P = B * Q queries."""
    blocks, mask = len(bucket.queries_B_Q), bucket.mask_B_1_Q_K
    query, key, value = (
        tensor.unflatten(0, (blocks, -1)).transpose(1, 2) for tensor in (query_P_H_D, key_R_G_D, value_R_G_D)
    )
    found_B_H_Q_D = scaled_dot_product_attention(
        query, key, value, mask, is_causal=mask is None, scale=scaling, enable_gqa=True
    )
    return found_B_H_Q_D.transpose(1, 2).flatten(0, 1)


def build_plan(layout: Layout, window: int | None) -> Plan:
    buckets = build_buckets(layout, window)
    queries_P = torch.cat([bucket.queries_B_Q.flatten() for bucket in buckets])
    valid_T = torch.cat([bucket.is_query_B_Q.flatten() for bucket in buckets]).nonzero().squeeze(1)
    order_T = torch.empty_like(valid_T)
    order_T[queries_P[valid_T]] = valid_T
    return Plan(buckets, queries_P, torch.cat([bucket.keys_B_K.flatten() for bucket in buckets]), order_T)


def build_buckets(layout: Layout, window: int | None) -> list[Bucket]:
    groups: dict[tuple[int, int], list[Block]] = defaultdict(list)
    for block in layout.blocks:
        if len(block.own):
            groups[round_length(len(block.own)), round_length(len(block.shared))].append(block)
    return [build_bucket(blocks, layout.tokens_T.device, window) for blocks in groups.values()]


def round_length(length: int) -> int:
    """Rounds a length up by at most a quarter, so that there are few lengths and little padding."""
    step = max(8, 1 << max(0, length.bit_length() - 3))
    return -(-length // step) * step


def build_bucket(blocks: list[Block], device: torch.device, window: int | None) -> Bucket:
    queries_B_Q, is_query_B_Q = join([(range(0), block.own) for block in blocks], device)
    keys_B_K, is_key_B_K = join([(block.shared, block.own) for block in blocks], device)
    num_shared_B = torch.tensor([len(block.shared) for block in blocks], device=device)
    mask = None
    if num_shared_B.any() or (window is not None and keys_B_K.shape[1] > window):
        mask = build_mask(num_shared_B, queries_B_Q.shape[1], is_key_B_K, window)
    return Bucket(queries_B_Q, keys_B_K, mask, is_query_B_Q)


def build_mask(starts_B: Tensor, num_queries: int, is_key_B_K: Tensor, window: int | None) -> Tensor:
    """[B, 1, Q, K]: query q of block b has the position starts[b] + q, and key k the position k."""
    query_B_Q = starts_B[:, None] + torch.arange(num_queries, device=starts_B.device)
    key_K = torch.arange(is_key_B_K.shape[1], device=starts_B.device)
    seen = (key_K <= query_B_Q[:, :, None]) & is_key_B_K[:, None, :]
    if window is not None:
        seen &= key_K > query_B_Q[:, :, None] - window
    # A padded query must see something, because otherwise its softmax would be NaN.
    seen[:, :, 0] |= ~seen.any(dim=-1)
    return seen[:, None]


def join(pairs: list[tuple[range, range]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Joins the positions [B, L] of two ranges, padded with the last one. Also returns which are not padding.

    Padding repeats positions of the same block, so that NaNs of one job do not reach another: 0 * NaN is NaN.
    """
    first, second = (
        torch.tensor([(each.start, len(each)) for each in ranges], device=device)[:, :, None]
        for ranges in zip(*pairs, strict=True)
    )
    split_B_1, end_B_1 = first[:, 1], first[:, 1] + second[:, 1]
    step_L = torch.arange(int(end_B_1.max()), device=device)
    step_B_L = step_L.minimum(end_B_1 - 1)
    indices_B_L = torch.where(step_B_L < split_B_1, first[:, 0] + step_B_L, second[:, 0] + step_B_L - split_B_1)
    return indices_B_L, step_L < end_B_1


class CurrentRow:
    """The row that the model computes now. None for a padded batch. One thread computes, but on a GPU torch's own
    threads run the backward pass, so nothing here is thread-local."""

    attention: RowAttention | None = None
    uses_flex: bool = False

    @contextmanager
    def use(self, layout: Layout) -> Iterator[None]:
        """Use it around the backward pass too, because gradient checkpointing computes layers again."""
        self.attention = RowAttention(layout)
        try:
            yield
        finally:
            self.attention = None

    def require_known_masks(self) -> None:
        """Checks after a forward pass: restrictions that a model only puts into its masks, such as chunked attention,
        would be lost."""
        row = self.attention
        if row and (lost := row.masks - row.windows - {None}):
            raise UnsupportedAttention(f"a mask of {lost} tokens")


# transformers finds attention functions by name, so the registered function must get the row from here.
CURRENT = CurrentRow()


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Has the signature of transformers' attention functions: [1, H, T, D] to [1, T, H, D]."""
    if CURRENT.attention is None:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
    if unknown := [name for name, value in options.items() if value is not None and name not in HARMLESS]:
        raise UnsupportedAttention(", ".join(unknown))
    return CURRENT.attention.attend(query, key, value, scaling, sliding_window), None


def build_attention_mask(*args: Any, local_size: int | None = None, **options: Any) -> Tensor | None:
    """Has the signature of transformers' mask functions. A row needs no mask, because its attention knows the
    visibility."""
    if CURRENT.attention is None:
        return sdpa_mask(*args, local_size=local_size, **options)
    CURRENT.attention.masks.add(local_size)
    return None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, build_attention_mask)

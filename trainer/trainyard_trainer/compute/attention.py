"""Attention over a row of several examples: each sees its family's common start and itself, causally, and nothing else.

Registered with transformers under NAME. Where no row is being computed it is transformers' own scaled dot product
attention, so that the same model serves padded batches, too. On a GPU rows go through flex attention (`flex.py`); on
the CPU through scaled dot product attention, once for all blocks of about the same length.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from trainyard_trainer.compute.flex import attend_by_flex, build_block_mask
from trainyard_trainer.compute.layout import Block, Layout

NAME = "trainyard_packed"
# What models hand to their attention and what may be passed over, because it is absent or says nothing.
HARMLESS = frozenset({"position_ids", "use_cache", "is_causal", "output_attentions", "cache_position"})


class UnsupportedAttention(Exception):
    """The model's attention needs more than a row's attention does, as a bias or a soft cap."""


@dataclass(frozen=True)
class Bucket:
    """Blocks whose lengths are about the same: [B, Q] queries and [B, K] keys as places in the row, padded with 0.

    `mask_B_1_Q_K` is None where plain causality does; `places_M` are the places in the row of the queries that are no
    padding, `valid_M` where they lie in [B * Q].
    """

    queries_B_Q: Tensor
    keys_B_K: Tensor
    mask_B_1_Q_K: Tensor | None
    places_M: Tensor
    valid_M: Tensor


class RowAttention:
    """How the tokens of one row attend to each other: planned once, used by every layer."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.by_window: dict[int | None, list[Bucket]] = {}
        self.masks: set[int | None] = set()
        self.windows: set[int | None] = set()

    def attend(self, query: Tensor, key: Tensor, value: Tensor, scaling: float | None, window: int | None) -> Tensor:
        """[1, H, T, D] queries and [1, G, T, D] keys and values (G divides H) to [1, T, H, D]."""
        self.windows.add(window)
        if query.device.type == "cuda":
            return attend_by_flex(query, key, value, scaling, self.block_mask(window))
        groups = query.shape[1] // key.shape[1]
        query_T_H_D, key_T_H_D, value_T_H_D = (
            tensor[0].transpose(0, 1) for tensor in (query, repeat_kv(key, groups), repeat_kv(value, groups))
        )
        found, places = [], []
        for bucket in self.buckets(window):
            found.append(attend_in_bucket(bucket, query_T_H_D, key_T_H_D, value_T_H_D, scaling))
            places.append(bucket.places_M)
        return torch.cat(found)[self.order(places)].unsqueeze(0)

    def buckets(self, window: int | None) -> list[Bucket]:
        if window not in self.by_window:
            self.by_window[window] = build_buckets(self.layout, window)
        return self.by_window[window]

    def order(self, places: list[Tensor]) -> Tensor:
        """Where each place of the row lies behind each other; the same for every layer and window."""
        if self._order is None:
            self._order = torch.cat(places).argsort()
        return self._order

    _order: Tensor | None = None

    def block_mask(self, window: int | None) -> BlockMask:
        if window not in self._block_masks:
            self._block_masks[window] = build_block_mask(self.layout, window)
        return self._block_masks[window]

    @cached_property
    def _block_masks(self) -> dict[int | None, BlockMask]:
        return {}


def attend_in_bucket(
    bucket: Bucket, query_T_H_D: Tensor, key_T_H_D: Tensor, value_T_H_D: Tensor, scaling: float | None
) -> Tensor:
    """[M, H, D] of the bucket's queries."""
    query, key, value = (
        tensor[index].transpose(1, 2)
        for tensor, index in (
            (query_T_H_D, bucket.queries_B_Q),
            (key_T_H_D, bucket.keys_B_K),
            (value_T_H_D, bucket.keys_B_K),
        )
    )
    mask = bucket.mask_B_1_Q_K
    found_B_H_Q_D = scaled_dot_product_attention(query, key, value, mask, is_causal=mask is None, scale=scaling)
    return found_B_H_Q_D.transpose(1, 2).flatten(0, 1)[bucket.valid_M]


def build_buckets(layout: Layout, window: int | None) -> list[Bucket]:
    groups: dict[tuple[int, int], list[Block]] = defaultdict(list)
    for block in layout.blocks:
        if len(block.own):
            groups[round_length(len(block.own)), round_length(len(block.shared))].append(block)
    return [build_bucket(blocks, layout.tokens_T.device, window) for blocks in groups.values()]


def round_length(length: int) -> int:
    """Up to a quarter more, so that lengths are few and padding is little."""
    step = max(8, 1 << max(0, length.bit_length() - 3))
    return -(-length // step) * step


def build_bucket(blocks: list[Block], device: torch.device, window: int | None) -> Bucket:
    own = [list(block.own) for block in blocks]
    shared = [list(block.shared) for block in blocks]
    queries, is_query = pad(own, device)
    keys, is_key = pad([before + after for before, after in zip(shared, own, strict=True)], device)
    valid = is_query.flatten().nonzero().squeeze(1)
    mask = None
    if any(shared) or (window is not None and keys.shape[1] > window):
        starts = torch.tensor([len(each) for each in shared], device=device)
        mask = build_mask(starts, queries.shape[1], is_key, window)
    return Bucket(queries, keys, mask, queries.flatten()[valid], valid)


def build_mask(starts_B: Tensor, num_queries: int, is_key_B_K: Tensor, window: int | None) -> Tensor:
    """[B, 1, Q, K]: query q of block b has the position starts[b] + q, key k the position k."""
    query_B_Q = starts_B[:, None] + torch.arange(num_queries, device=starts_B.device)
    key_K = torch.arange(is_key_B_K.shape[1], device=starts_B.device)
    distance_B_Q_K = query_B_Q[:, :, None] - key_K
    seen = (distance_B_Q_K >= 0) & is_key_B_K[:, None, :]
    if window is not None:
        seen &= distance_B_Q_K < window
    # Padded queries see something, or their softmax would be no number.
    seen[:, :, 0] |= ~seen.any(dim=-1)
    return seen[:, None]


def pad(rows: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Places [B, L], filled up with 0, and which of them are meant."""
    longest = max(map(len, rows))
    places = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return places, torch.arange(longest, device=device) < lengths[:, None]


class CurrentRow:
    """The row that the model computes now; None for a padded batch. One thread of the process computes."""

    attention: RowAttention | None = None

    @contextmanager
    def use(self, layout: Layout) -> Iterator[None]:
        """Also around the backward pass, which computes layers again under gradient checkpointing."""
        self.attention = RowAttention(layout)
        try:
            yield
        finally:
            self.attention = None

    def require_known_masks(self) -> None:
        """After a forward pass: what a model puts only into its masks, as chunks of its attention, would be lost."""
        row = self.attention
        if row and (lost := row.masks - row.windows - {None}):
            raise UnsupportedAttention(f"a mask of {lost} tokens")


# transformers finds attention functions by name, so that the one that it finds must know the row from here.
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
    """The form in which transformers calls attention functions: [1, H, T, D] to [1, T, H, D]."""
    if CURRENT.attention is None:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
    if unknown := [name for name, value in options.items() if value is not None and name not in HARMLESS]:
        raise UnsupportedAttention(", ".join(unknown))
    return CURRENT.attention.attend(query, key, value, scaling, sliding_window), None


def build_attention_mask(*args: Any, local_size: int | None = None, **options: Any) -> Tensor | None:
    """The form in which transformers calls for masks; a row has none, as its attention knows who sees whom."""
    if CURRENT.attention is None:
        return sdpa_mask(*args, local_size=local_size, **options)
    CURRENT.attention.masks.add(local_size)
    return None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, build_attention_mask)

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from transformers.integrations.sdpa_attention import repeat_kv

from testing.tiny_models import make_families
from trainyard_trainer.compute.rows.attention import (
    CURRENT,
    RowAttention,
    UnsupportedAttention,
    attend,
    build_mask,
    round_length,
)
from trainyard_trainer.compute.rows.layout import SHARED, Layout, build_layout

CPU = torch.device("cpu")


def attend_densely(layout: Layout, tensors: list[Tensor], scaling: float | None, window: int | None) -> Tensor:
    """With the whole mask [T, T], as the layout's docstring defines it."""
    family, branch, position = layout.family_T, layout.branch_T, layout.positions_T
    own = (branch[:, None] == branch) | (branch == SHARED)
    seen = (family[:, None] == family) & own & (position <= position[:, None])
    if window is not None:
        seen &= position[:, None] - position < window
    query, key, value = tensors
    key, value = (repeat_kv(each, query.shape[1] // each.shape[1]) for each in (key, value))
    return scaled_dot_product_attention(query, key, value, seen, scale=scaling).transpose(1, 2)


def make_tensors(length: int, heads: int, groups: int) -> list[Tensor]:
    random = torch.Generator().manual_seed(length)
    return [
        torch.randn(1, count, length, 8, generator=random, dtype=torch.float64, requires_grad=True)
        for count in (heads, groups, groups)
    ]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("window", [None, 1, 5, 20, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_rows_attend_like_the_complete_mask(seed, window, groups):
    layout = build_layout(make_families(seed, 5, max_length=40), CPU)
    scaling = None if seed % 2 else 0.3
    tensors = make_tensors(layout.num_tokens, 4, groups)
    row = RowAttention(layout)
    found, wanted = row.attend(*tensors, scaling, window), attend_densely(layout, tensors, scaling, window)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)
    pushed = torch.randn_like(wanted)
    for one, other in zip(
        torch.autograd.grad(found, tensors, pushed), torch.autograd.grad(wanted, tensors, pushed), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_a_row_may_have_layers_of_several_windows():
    layout = build_layout(make_families(3, 3), CPU)
    tensors = make_tensors(layout.num_tokens, 4, 2)
    row = RowAttention(layout)
    for window in (None, 4, None):
        torch.testing.assert_close(
            row.attend(*tensors, None, window), attend_densely(layout, tensors, None, window), rtol=1e-9, atol=1e-9
        )


class Largest(TorchDispatchMode):
    """The maximum bytes of a single tensor."""

    bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        self.bytes = max(self.bytes, found.nbytes)
        return found


@pytest.mark.parametrize("window", [None, 20])
def test_a_mask_contains_only_booleans(window):
    with Largest() as largest:
        mask = build_mask(torch.tensor([30, 0, 5]), 64, torch.ones(3, 96, dtype=torch.bool), window)
    assert mask.shape == (3, 1, 64, 96)
    assert largest.bytes == mask.numel()


def test_lengths_are_rounded_up_to_few_values():
    rounded = [round_length(length) for length in range(1, 5000)]
    assert all(length <= up < length + max(8, length / 4) for length, up in enumerate(rounded, 1))
    assert len(set(rounded)) < 60


def test_an_unsupported_attention_option_is_rejected_only_in_rows():
    layout = build_layout(make_families(3, 1), CPU)
    tensors = make_tensors(layout.num_tokens, 4, 4)
    module = torch.nn.Module()
    with CURRENT.use(layout):
        attend(module, *tensors, None, position_ids=layout.positions_T, softcap=None)
        with pytest.raises(UnsupportedAttention, match="softcap"):
            attend(module, *tensors, None, softcap=50.0)
    assert CURRENT.attention is None
    plain, _ = attend(module, *tensors, None)
    wanted = scaled_dot_product_attention(*tensors, is_causal=True).transpose(1, 2)
    torch.testing.assert_close(plain, wanted)

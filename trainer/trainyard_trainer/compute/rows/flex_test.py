import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from testing.tiny_models import make_families
from trainyard_trainer.compute.rows import flex
from trainyard_trainer.compute.rows.attention import RowAttention
from trainyard_trainer.compute.rows.flex import BLOCK, attend_by_flex, build_block_mask, define_visibility
from trainyard_trainer.compute.rows.layout import Layout, build_layout

CPU = torch.device("cpu")
# Families, and the lengths of members: less than a block, some blocks, and more than are compared at once.
SIZES = [(1, 8), (3, 40), (4, 250)]


def make_layout(seed: int, count: int, longest: int) -> Layout:
    return build_layout(make_families(seed, count, max_length=longest), CPU)


@pytest.fixture
def uncompiled(monkeypatch):
    monkeypatch.setattr(flex, "compile_flex", lambda: flex_attention)


@pytest.mark.parametrize("window", [None, 1, 50])
@pytest.mark.parametrize("size", SIZES)
def test_blocks_are_those_that_torch_finds_in_the_whole_mask(size, window, monkeypatch):
    monkeypatch.setattr(flex, "PAIRS", 3 * BLOCK * BLOCK)
    layout = make_layout(0, *size)
    mask = build_block_mask(layout, window)
    length = mask.seq_lengths[0]
    assert length % BLOCK == 0
    assert layout.num_tokens <= length < max(layout.num_tokens, BLOCK) + BLOCK + 1
    whole = create_block_mask(define_visibility(layout, window, length), None, None, length, length, "cpu")
    assert torch.equal(mask.to_dense(), whole.to_dense())
    for name in ("kv_num_blocks", "full_kv_num_blocks", "q_num_blocks", "full_q_num_blocks"):
        assert torch.equal(getattr(mask, name), getattr(whole, name))
    for name in ("kv", "full_kv", "q", "full_q"):
        assert list_indices(mask, name) == list_indices(whole, name)


def list_indices(mask, name):
    """The indices that count. The order of the others is undefined."""
    numbers, indices = getattr(mask, f"{name}_num_blocks")[0, 0], getattr(mask, f"{name}_indices")[0, 0]
    return [sorted(row[:number].tolist()) for number, row in zip(numbers, indices, strict=True)]


@pytest.mark.parametrize(
    ("size", "window", "groups", "width"),
    [
        pytest.param(SIZES[0], None, 4, 8, id="a head that is narrower than a tensor core"),
        pytest.param(SIZES[1], 50, 2, 24, id="a head that is no power of two"),
        pytest.param(SIZES[2], None, 1, 32, id="all heads share their keys"),
        pytest.param(SIZES[2], 1, 2, 32, id="each token sees itself alone"),
        pytest.param(SIZES[2], 150, 2, 32, id="a window longer than a block"),
    ],
)
@torch.no_grad()
def test_flex_attention_equals_the_attention_on_cpus(size, window, groups, width, uncompiled):
    layout = make_layout(1, *size)
    random = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(1, heads, layout.num_tokens, width, generator=random) for heads in (4, groups, groups)
    )
    wanted = RowAttention(layout).attend(query, key, value, None, window)
    # As in models that rotate queries and keys in a wider type than that of the values.
    found = attend_by_flex(query.double(), key.double(), value, None, build_block_mask(layout, window))
    assert found.dtype == value.dtype
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_one_compilation_serves_rows_of_all_lengths_and_windows(monkeypatch):
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(flex_attention, backend=counter, fullgraph=True)
    monkeypatch.setattr(flex, "compile_flex", lambda: compiled)
    torch._dynamo.reset()
    for seed in range(6):
        layout = make_layout(seed, 1 + seed % 3, 20 + 50 * seed)
        query = torch.randn(1, 4, layout.num_tokens, 16)
        attend_by_flex(query, query, query, 0.25, build_block_mask(layout, None if seed % 2 else 7))
    assert counter.frame_count <= 2

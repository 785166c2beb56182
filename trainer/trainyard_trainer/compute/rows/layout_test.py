import numpy as np
import pytest
import torch

from testing.seeds import draw_seeds
from testing.tiny_models import make_families
from trainyard_trainer.compute.rows.example import Example, count_row, make_example
from trainyard_trainer.compute.rows.layout import SHARED, Block, Layout, build_layout

CPU = torch.device("cpu")


def make(ids: list[int], trained: list[int], family: int = 0) -> Example:
    return make_example(ids, [index in trained for index in range(len(ids))], family)


def show(layout: Layout) -> dict[str, list[int]]:
    names = ("tokens_T", "positions_T", "family_T", "branch_T", "predictors_N", "targets_N", "example_N")
    return {name: getattr(layout, name).tolist() for name in names}


def test_a_family_begins_with_the_shared_prefix_and_continues_with_each_example():
    examples = [make([5, 6, 7, 8, 9], [3, 4]), make([5, 6, 7, 4], [3])]
    layout = build_layout(examples, CPU)
    assert show(layout) == {
        "tokens_T": [5, 6, 7, 8, 9, 4],
        "positions_T": [0, 1, 2, 3, 4, 3],
        "family_T": [0] * 6,
        "branch_T": [SHARED] * 3 + [0, 0, 1],
        "predictors_N": [2, 3, 2],  # the last shared token predicts the first token of each
        "targets_N": [8, 9, 4],
        "example_N": [0, 0, 1],
    }
    assert layout.blocks == (
        Block(range(3), range(0)),
        Block(range(3, 5), range(3)),
        Block(range(5, 6), range(3)),
    )


def test_no_trained_token_is_shared():
    layout = build_layout([make([5, 6, 7, 8], [2]), make([5, 6, 7, 9], [3])], CPU)
    assert layout.tokens_T.tolist() == [5, 6, 7, 8, 7, 9]
    assert layout.predictors_N.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("examples", "tokens", "predictors"),
    [
        pytest.param([make([5, 6], [1])], [5, 6], [0], id="a single example shares nothing"),
        pytest.param([make([5, 6], [1]), make([4, 6], [1])], [5, 6, 4, 6], [0, 2], id="starts differ"),
        pytest.param([make([5, 6], [1]), make([5, 6], [1])], [5, 6, 6], [0, 0], id="the same example twice"),
        pytest.param([make([5, 6], [1]), make([5, 6], [1], 1)], [5, 6, 5, 6], [0, 2], id="other families"),
        pytest.param([make([5, 6], []), make([5, 6, 7], [2])], [5, 6, 7], [1], id="one has nothing of its own"),
        pytest.param([make([5], [0]), make([5, 6], [0, 1])], [5, 6], [0], id="nothing predicts a first token"),
    ],
)
def test_rows_of_unusual_families(examples, tokens, predictors):
    layout = build_layout(examples, CPU)
    assert layout.tokens_T.tolist() == tokens
    assert layout.predictors_N.tolist() == predictors


@pytest.mark.parametrize("seed", draw_seeds(4))
def test_every_example_can_be_read_back_from_its_row(seed):
    examples = make_families(seed, 4)
    layout = build_layout(examples, CPU)
    assert layout.num_tokens == count_row(examples) <= sum(example.num_tokens for example in examples)
    families = list(dict.fromkeys(example.family for example in examples))
    branches = [
        sum(other.family == example.family for other in examples[:index]) for index, example in enumerate(examples)
    ]
    for index, (example, branch) in enumerate(zip(examples, branches, strict=True)):
        own = (layout.branch_T == branch) | (layout.branch_T == SHARED)
        seen = (layout.family_T == families.index(example.family)) & own
        assert layout.tokens_T[seen].tolist() == example.ids.tolist()
        assert layout.positions_T[seen].tolist() == list(range(example.num_tokens))
        row_indices = seen.nonzero().squeeze(1)
        mine = layout.example_N == index
        trained = np.flatnonzero(example.trained)
        assert layout.predictors_N[mine].tolist() == row_indices[trained - 1].tolist()
        assert layout.targets_N[mine].tolist() == example.ids[trained].tolist()

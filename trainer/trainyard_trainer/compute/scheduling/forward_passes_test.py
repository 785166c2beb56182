from collections import deque
from itertools import pairwise

import pytest

from testing.seeds import draw_seeds
from testing.tiny_models import make_families
from trainyard_trainer.compute.rows import example as example_module
from trainyard_trainer.compute.rows import step as step_module
from trainyard_trainer.compute.rows.example import count_row, make_example, measure_prefix
from trainyard_trainer.compute.rows.step import Step, split_packed
from trainyard_trainer.compute.scheduling.forward_passes import plan_passes, split_evenly


class Waiting:
    """A job whose step has microbatches with these numbers of tokens."""

    def __init__(self, *sizes):
        self.microbatches = deque([index] for index in range(len(sizes)))
        examples = [make_example([1] * size, [True] * size, index) for index, size in enumerate(sizes)]
        self.step = Step(examples, None, 0.0, 1.0)


@pytest.mark.parametrize(
    ("width", "sizes", "passes"),
    [
        pytest.param(1, {"a": [9, 9]}, [["a0"]], id="one pass takes one part"),
        pytest.param(1, {"a": [99]}, [["a0"]], id="a long example is a part by itself"),
        pytest.param(3, {"a": [9, 9]}, [["a0"], ["a1"]], id="no more passes than there are parts"),
        pytest.param(2, {"a": [9, 9, 9]}, [["a0"], ["a1"]], id="what is left waits for its next turn"),
        pytest.param(1, {"a": [6], "b": [5], "c": [4]}, [["a0", "c0"]], id="whoever fits in goes along"),
        pytest.param(2, {"a": [6], "b": [9, 1]}, [["a0"], ["b0"]], id="others fill passes, each of its parts in order"),
        pytest.param(2, {"a": [4, 4], "b": [6, 6]}, [["a0", "b0"], ["a1", "b1"]], id="others fill rooms of all passes"),
    ],
)
def test_a_turn(width, sizes, passes):
    runs = {name: Waiting(*each) for name, each in sizes.items()}
    names = {id(run): name for name, run in runs.items()}
    first, *others = runs.values()
    planned = plan_passes(first, others, width, 10)
    assert [
        [f"{names[id(contribution.run)]}{contribution.indices[0]}" for contribution in contributions]
        for contributions in planned
    ] == passes
    left = sum(len(run.microbatches) for run in runs.values())
    assert left == sum(map(len, sizes.values())) - sum(map(len, passes))


@pytest.mark.parametrize(
    ("world_size", "sizes", "microbatches"),
    [
        pytest.param(1, [5, 5, 5], [[0, 1], [2]], id="by itself a process fills its passes"),
        pytest.param(2, [3, 3], [[0], [1]], id="what would fit into one pass is shared out"),
        pytest.param(2, [4] * 7, [[0, 1], [2, 3], [4, 5], [6]], id="as few turns as there can be"),
        pytest.param(2, [2] * 11, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]], id="no pass is full and another empty"),
        pytest.param(2, [9], [[0]], id="one example cannot be shared out"),
        pytest.param(4, [], [], id="nothing stays nothing"),
    ],
)
def test_microbatches_for_several_processes(world_size, sizes, microbatches):
    examples = [make_example([1] * size, [True] * size, index) for index, size in enumerate(sizes)]
    assert split_evenly(lambda budget: split_packed(examples, budget), 10, world_size) == microbatches


@pytest.mark.parametrize("budget", [1, 40, 90, 200, 1000])
@pytest.mark.parametrize("seed", draw_seeds(2))
def test_microbatches_of_a_row_are_as_large_as_the_budget_allows(seed, budget):
    examples = make_families(seed, 8, max_members=9)
    microbatches = split_packed(examples, budget)
    assert [index for microbatch in microbatches for index in microbatch] == list(range(len(examples)))
    for microbatch in microbatches:
        assert len(microbatch) == 1 or count_row([examples[index] for index in microbatch]) <= budget
    for microbatch, following in pairwise(microbatches):
        assert count_row([examples[index] for index in (*microbatch, following[0])]) > budget


def test_a_familys_members_are_compared_once_each(monkeypatch):
    compared = []

    def measure(examples):
        compared.append(len(examples))
        return measure_prefix(examples)

    for module in (step_module, example_module):
        monkeypatch.setattr(module, "measure_prefix", measure, raising=False)
    examples = [make_example([1] * 9 + [index], [False] * 9 + [True], 0) for index in range(100)]
    assert len(split_packed(examples, 10_000)) == 1
    assert sum(compared) <= 2 * len(examples)

from collections import deque

import pytest

from trainyard_trainer.compute.example import make_example
from trainyard_trainer.compute.passes import plan_turn, split_evenly
from trainyard_trainer.compute.step import Step, split_packed


class Waiting:
    """A job whose step has parts of so many tokens each."""

    def __init__(self, *sizes):
        self.parts = deque([place] for place in range(len(sizes)))
        examples = [make_example([1] * size, [True] * size, place) for place, size in enumerate(sizes)]
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
    works = {name: Waiting(*each) for name, each in sizes.items()}
    names = {id(work): name for name, work in works.items()}
    first, *others = works.values()
    planned = plan_turn(first, others, width, 10)
    assert [[f"{names[id(share.work)]}{share.places[0]}" for share in shares] for shares in planned] == passes
    left = sum(len(work.parts) for work in works.values())
    assert left == sum(map(len, sizes.values())) - sum(map(len, passes))


@pytest.mark.parametrize(
    ("width", "sizes", "parts"),
    [
        pytest.param(1, [5, 5, 5], [[0, 1], [2]], id="by itself a process fills its passes"),
        pytest.param(2, [3, 3], [[0], [1]], id="what would fit into one pass is shared out"),
        pytest.param(2, [4] * 7, [[0, 1], [2, 3], [4, 5], [6]], id="as few turns as there can be"),
        pytest.param(2, [2] * 11, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]], id="no pass is full and another empty"),
        pytest.param(2, [9], [[0]], id="one example cannot be shared out"),
        pytest.param(4, [], [], id="nothing stays nothing"),
    ],
)
def test_parts_for_several_processes(width, sizes, parts):
    examples = [make_example([1] * size, [True] * size, place) for place, size in enumerate(sizes)]
    assert split_evenly(lambda budget: split_packed(examples, budget), 10, width) == parts

import pytest

from trainyard_trainer.compute.example import make_example
from trainyard_trainer.compute.step import Step
from trainyard_trainer.progress import digest_steps
from trainyard_trainer.sft.objective import SftObjective

RED, BLUE = ([1, 2, 3], [False, True, True]), ([1, 2, 4], [False, True, True])


def make_step(*rows, learning_rate=1e-3, divisor=2.0):
    examples = [make_example(ids, trained, place) for place, (ids, trained) in enumerate(rows)]
    return Step(examples, SftObjective(len(rows), 3, 0), learning_rate, divisor)


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([make_step(RED), make_step(RED)], id="another row"),
        pytest.param([make_step(BLUE), make_step(RED)], id="another order"),
        pytest.param([make_step(RED, BLUE)], id="fewer steps"),
        pytest.param([make_step(RED), make_step(BLUE), make_step()], id="more steps"),
        pytest.param([make_step(RED), make_step(([1, 2, 4], [False, True, False]))], id="another token trained"),
        pytest.param([make_step(RED), make_step(BLUE, learning_rate=1e-4)], id="another learning rate"),
        pytest.param([make_step(RED), make_step(BLUE, divisor=4.0)], id="another divisor"),
    ],
)
def test_other_steps_have_another_digest(others):
    steps = [make_step(RED), make_step(BLUE)]
    assert digest_steps(steps) == digest_steps([make_step(RED), make_step(BLUE)])
    assert digest_steps(others) != digest_steps(steps)

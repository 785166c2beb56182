import json

import pytest

from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.progress import PROGRESS, Progress, digest_steps
from trainyard_trainer.sft.objective import SftObjective

RED, BLUE = ([1, 2, 3], [False, True, True]), ([1, 2, 4], [False, True, True])


def make_step(*rows, learning_rate=1e-3, divisor=2.0):
    examples = [make_example(ids, trained, index) for index, (ids, trained) in enumerate(rows)]
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


def test_progress_keeps_the_names_that_earlier_releases_wrote(tmp_path):
    Progress("digest", 3, {"loss": 1.5}, {"0/1": [2.0, 1.0]}).save("job", tmp_path)
    assert json.loads((tmp_path / PROGRESS).read_text()) == {
        "seed": "job",
        "steps": "digest",
        "steps_taken": 3,
        "sums": {"loss": 1.5},
        "extra_state": {"0/1": [2.0, 1.0]},
    }

import weakref
from types import SimpleNamespace

import numpy as np
import torch

from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.session import score_under


class Computed:
    """The tensors of a pass."""


def test_the_memory_of_a_failed_pass_is_freed_before_the_next_try():
    held: list[weakref.ref] = []

    def score(*_: object) -> list[np.ndarray]:
        if held:
            assert held[0]() is None
            return [np.zeros(1)]
        computed = Computed()
        held.append(weakref.ref(computed))
        cause = torch.OutOfMemoryError("out of memory")  # with its own frame, which forms a circle
        raise cause

    scheduler = SimpleNamespace(
        policy=SimpleNamespace(max_batch_tokens=8),
        executor=SimpleNamespace(score=score),
        split=lambda examples, _: [[examples]],
        call=lambda function: function(),
    )
    job = SimpleNamespace(scheduler=scheduler, check=lambda: None)
    assert score_under(job, None, [make_example([1, 2], [True, True], 0)]) == [np.zeros(1)]

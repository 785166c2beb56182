import pytest
import torch

from trainyard_trainer.compute.adapter import interrupt_layers, open_adapter
from trainyard_trainer.failures import Fenced
from trainyard_trainer.jobs_for_tests import LORA

TOKENS = torch.arange(1, 20).unsqueeze(0)


def train(model):
    model(TOKENS).logits.square().mean().backward()


def test_a_job_that_was_taken_away_is_dropped_at_any_layer(base):
    calls, limit = 0, None

    def check():
        nonlocal calls
        calls += 1
        if calls == limit:
            raise Fenced("cancelled")

    with open_adapter(base, LORA, None) as model:
        interrupt_layers(model, check)
        model(TOKENS)
        forward, calls = calls, 0
        train(model)
        backward, calls = calls - forward, 0
        assert forward >= base.model.config.num_hidden_layers
        assert backward >= forward - 2  # all but what no weight lies before
        for limit in (1, forward, forward + 1, forward + backward):  # noqa: B007
            with pytest.raises(Fenced):
                train(model)
            calls = 0
        limit = None
        train(model)
    train_count = calls
    base.model(TOKENS)
    assert calls == train_count  # the base model has no hooks left

import pytest
import torch

from testing.tiny_models import (
    LLAMA_TARGETS,
    backward,
    make_base,
    make_families,
    open_random,
    pop_gradients,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.sft.recipe import SFT

SHAPE = Shape(4, 8, LLAMA_TARGETS)


def test_adapters_of_a_bfloat16_model_are_trained_in_float32():
    executor = Executor(make_base(dtype=torch.bfloat16))
    assert executor.base.packs
    slot = open_random(executor, SHAPE)
    backward(executor, slot, make_families(1, 3))
    parameters = executor.find(slot).parameters.values()
    assert {parameter.dtype for parameter in parameters} == {torch.float32}
    assert {parameter.grad.dtype for parameter in parameters} == {torch.float32}
    own = [weight for name, weight in executor.base.model.state_dict().items() if "lora_" not in name]
    assert {weight.dtype for weight in own} == {torch.bfloat16}


def test_a_slot_that_cannot_be_added_does_not_affect_others(monkeypatch):
    executor = Executor(make_base())
    slot = open_random(executor, SHAPE)

    def fail(_parameters):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("trainyard_trainer.compute.model.slots.build_optimizer", fail)
    other = Shape(8, 8, LLAMA_TARGETS)
    with pytest.raises(torch.OutOfMemoryError):
        executor.open(other, None)
    monkeypatch.undo()
    for name in (slot, open_random(executor, other)):
        backward(executor, name, make_families(1, 3))
        assert pop_gradients(executor, name).keys() == executor.find(name).parameters.keys()


def test_a_free_slot_keeps_nothing_of_an_optimizer():
    executor = Executor(make_base())
    slot = open_random(executor, SHAPE)
    backward(executor, slot, make_families(1, 3))
    executor.step_optimizer(slot, SFT, 1e-3)
    optimizer = executor.find(slot).optimizer
    assert optimizer.state
    executor.close(slot)
    assert not optimizer.state

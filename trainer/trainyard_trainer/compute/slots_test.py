import pytest
import torch

from trainyard_trainer.compute.machine import Machine
from trainyard_trainer.compute.models_for_tests import (
    LLAMA_TARGETS,
    backward,
    make_base,
    make_families,
    open_random,
    take_gradients,
)
from trainyard_trainer.compute.optimizer import SFT
from trainyard_trainer.compute.slots import Shape

SHAPE = Shape(4, 8, LLAMA_TARGETS)


def test_adapters_of_a_bfloat16_model_are_trained_in_float32():
    machine = Machine(make_base(dtype=torch.bfloat16))
    assert machine.base.packs
    slot = open_random(machine, SHAPE)
    backward(machine, slot, make_families(1, 3))
    parameters = machine.find(slot).parameters.values()
    assert {parameter.dtype for parameter in parameters} == {torch.float32}
    assert {parameter.grad.dtype for parameter in parameters} == {torch.float32}
    own = [weight for name, weight in machine.base.model.state_dict().items() if "lora_" not in name]
    assert {weight.dtype for weight in own} == {torch.bfloat16}


def test_a_slot_that_cannot_be_added_harms_no_other(monkeypatch):
    machine = Machine(make_base())
    slot = open_random(machine, SHAPE)

    def fail(_parameters):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("trainyard_trainer.compute.slots.build_optimizer", fail)
    other = Shape(8, 8, LLAMA_TARGETS)
    with pytest.raises(torch.OutOfMemoryError):
        machine.open(other, None)
    monkeypatch.undo()
    for name in (slot, open_random(machine, other)):
        backward(machine, name, make_families(1, 3))
        assert take_gradients(machine, name).keys() == machine.find(name).parameters.keys()


def test_a_free_slot_keeps_nothing_of_an_optimizer():
    machine = Machine(make_base())
    slot = open_random(machine, SHAPE)
    backward(machine, slot, make_families(1, 3))
    machine.take_step(slot, SFT, 1e-3)
    optimizer = machine.find(slot).optimizer
    assert optimizer.state
    machine.close(slot)
    assert not optimizer.state

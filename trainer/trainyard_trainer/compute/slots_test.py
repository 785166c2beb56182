import torch

from trainyard_trainer.compute.machine import Machine
from trainyard_trainer.compute.models_for_tests import LLAMA_TARGETS, backward, make_base, make_families, open_random
from trainyard_trainer.compute.slots import Shape


def test_adapters_of_a_bfloat16_model_are_trained_in_float32():
    machine = Machine(make_base(dtype=torch.bfloat16))
    assert machine.base.packs
    slot = open_random(machine, Shape(4, 8, LLAMA_TARGETS))
    backward(machine, slot, make_families(1, 3))
    parameters = machine.find(slot).parameters.values()
    assert {parameter.dtype for parameter in parameters} == {torch.float32}
    assert {parameter.grad.dtype for parameter in parameters} == {torch.float32}
    own = [weight for name, weight in machine.base.model.state_dict().items() if "lora_" not in name]
    assert {weight.dtype for weight in own} == {torch.bfloat16}

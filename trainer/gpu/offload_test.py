import torch

from trainyard_trainer.compute.model.offload import Offload
from trainyard_trainer.compute.model.slots import Slots


def test_a_trainer_that_leaves_its_device_frees_it_and_returns_with_the_same_weights(base):
    weights = {name: parameter.detach().cpu() for name, parameter in base.model.named_parameters()}
    size = sum(parameter.nbytes for parameter in base.model.parameters())
    offload = Offload(Slots(base))
    for _ in range(2):
        used = torch.cuda.memory_allocated()
        offload.leave()
        assert used - torch.cuda.memory_allocated() >= size
        offload.enter()
    for name, parameter in base.model.named_parameters():
        assert parameter.device.type == "cuda"
        assert torch.equal(parameter.cpu(), weights[name])

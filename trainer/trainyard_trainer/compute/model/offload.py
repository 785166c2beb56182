"""Moves all that a trainer keeps on its device to the memory of the processor, and back."""

from collections.abc import Iterator

import torch
from torch import Tensor

from trainyard_trainer.compute.model.slots import Slots


class Offload:
    """The base model, adapters, gradients and states of optimizers. Tensors keep their identity, because optimizers and
    routes refer to them."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        # By the id of the parameter. Frozen weights are copied once only.
        self.frozen: dict[int, Tensor] = {}
        self.is_away = False

    @torch.no_grad()
    def leave(self) -> None:
        """Frees the device."""
        if self.is_away or self.slots.base.device.type == "cpu":
            return
        for tensor in self.list_tensors():
            tensor.data = self.copy_to_processor(tensor)
        self.is_away = True
        torch.cuda.empty_cache()

    @torch.no_grad()
    def enter(self) -> None:
        if not self.is_away:
            return
        for tensor in self.list_tensors():
            tensor.data = tensor.data.to(self.slots.base.device)
        self.is_away = False

    def copy_to_processor(self, tensor: Tensor) -> Tensor:
        if tensor.requires_grad or not isinstance(tensor, torch.nn.Parameter):
            return tensor.data.cpu()
        if id(tensor) not in self.frozen:
            self.frozen[id(tensor)] = tensor.data.cpu()
        return self.frozen[id(tensor)]

    def list_tensors(self) -> Iterator[Tensor]:
        model = self.slots.base.model
        yield from model.buffers()
        for parameter in model.parameters():
            yield parameter
            if parameter.grad is not None:
                yield parameter.grad
        for slot in self.slots.all:
            for state in slot.optimizer.state.values():
                yield from (value for value in state.values() if isinstance(value, Tensor))

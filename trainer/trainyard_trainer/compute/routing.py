"""LoRA layers that several models share: each range of a row goes through its own model's adapter.

y = W x + scaling[a] * B[a] (A[a] x)        for the tokens x of the range of adapter a
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from peft.tuners.lora import Linear
from torch import Tensor


@dataclass(frozen=True)
class Route:
    """The next `length` tokens of the row belong to the adapter of this name; None is the base model itself."""

    adapter: str | None
    length: int


class CurrentRoutes:
    """Whose adapters the tokens go through now. One thread of the process computes."""

    routes: tuple[Route, ...] = ()
    check: Callable[[], None] = staticmethod(lambda: None)

    @contextmanager
    def use(self, routes: tuple[Route, ...], check: Callable[[], None]) -> Iterator[None]:
        """`check` is called at every adapted layer, forward and backward: not even a long batch outlives its job."""
        self.routes, self.check = routes, check
        try:
            yield
        finally:
            self.routes, self.check = (), staticmethod(lambda: None)


# The layers lie deep in a model that knows nothing of them.
CURRENT = CurrentRoutes()


class RoutedLinear(Linear):
    """PEFT's LoRA layer, told by the routes, instead of by its active adapters, what goes through which adapter."""

    def forward(self, x: Tensor, *args: object, **kwargs: object) -> Tensor:
        CURRENT.check()
        result = self.base_layer(x, *args, **kwargs)
        adapters = [route.adapter for route in CURRENT.routes]
        if len(adapters) == 1:
            result = result if self.is_absent(adapters[0]) else result + self.adapt(x, adapters[0])
        elif not all(map(self.is_absent, adapters)):
            parts = x.split([route.length for route in CURRENT.routes], dim=1)
            changes = [self.change(part, adapter) for part, adapter in zip(parts, adapters, strict=True)]
            result = result + torch.cat(changes, dim=1)
        if result.requires_grad:
            check = CURRENT.check
            result.register_hook(lambda _gradient: check())
        return result

    def is_absent(self, adapter: str | None) -> bool:
        return adapter not in self.lora_A

    def change(self, x: Tensor, adapter: str | None) -> Tensor:
        if self.is_absent(adapter):
            return x.new_zeros(*x.shape[:-1], self.out_features)
        return self.adapt(x, adapter)

    def adapt(self, x: Tensor, adapter: str) -> Tensor:
        """What the adapter adds, in the type of its input."""
        low_rank = self.lora_A[adapter](self._cast_input_dtype(x, self.lora_A[adapter].weight.dtype))
        return (self.lora_B[adapter](low_rank) * self.scaling[adapter]).to(x.dtype)

"""LoRA layers that several models share. Each range of a row uses its own model's adapter.

y = W x + scaling[a] * B[a] (A[a] x)        for the tokens x of the range of adapter a
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from peft.tuners.lora import Linear
from torch import Tensor
from torch.autograd.function import Function, once_differentiable


@dataclass(frozen=True)
class Route:
    """The next `length` tokens of the row use the adapter of this name. None means the base model."""

    adapter: str | None
    length: int


class CurrentRoutes:
    """The routes of the row that is computed now. Only one thread computes."""

    routes: tuple[Route, ...] = ()
    check: Callable[[], None] = staticmethod(lambda: None)

    @contextmanager
    def use(self, routes: tuple[Route, ...], check: Callable[[], None]) -> Iterator[None]:
        """Calls `check` at every adapted layer, forward and backward, so that even a long batch ends soon after its
        job."""
        self.routes, self.check = routes, check
        try:
            yield
        finally:
            self.routes, self.check = (), staticmethod(lambda: None)


# The layers are deep inside a model that has no parameter for routes.
CURRENT = CurrentRoutes()


class RoutedLinear(Linear):
    """PEFT's LoRA layer. The routes decide which tokens use which adapter, not PEFT's active adapters."""

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        CURRENT.check()
        result = self.base_layer(x, *args, **kwargs)
        spans, names = self.find_spans(x.shape[:-1].numel())
        if not names:
            return result
        weights = [layer[name].weight for name in names for layer in (self.lora_A, self.lora_B)]
        scalings = [self.scaling[name] for name in names]
        return AddLowRank.apply(result, x, spans, scalings, CURRENT.check, *weights)

    def find_spans(self, num_tokens: int) -> tuple[list[slice], list[str]]:
        """The ranges of tokens that have an adapter on this layer, and the adapters' names."""
        lengths = [num_tokens] if len(CURRENT.routes) == 1 else [route.length for route in CURRENT.routes]
        ends = accumulate(lengths)
        found = [
            (slice(end - length, end), route.adapter)
            for route, length, end in zip(CURRENT.routes, lengths, ends, strict=True)
            if route.adapter is not None and route.adapter in self.lora_A
        ]
        if found and sum(lengths) != num_tokens:
            raise ValueError("models cannot share a layer that does not see the whole row, as the head")
        return [span for span, _ in found], [name for _, name in found]


class AddLowRank(Function):
    """What the adapters add to a layer's result, each to its range of tokens, as one node of the graph: on the small
    rows of small jobs, many little nodes take longer than the numbers in them.

    With low = x A^T in a range, and g the gradient of y = result + scaling * low B^T:
        dlow = scaling * g B,    dA = dlow^T x,    dB = scaling * g^T low,    dx = dlow A
    """

    @staticmethod
    def forward(
        ctx: Any,
        result: Tensor,
        x: Tensor,
        spans: list[slice],
        scalings: list[float],
        check: Callable[[], None],
        *weights: Tensor,
    ) -> Tensor:
        """Computes in the base model's type."""
        x_T_I, y_T_O = x.flatten(0, -2).to(result.dtype), result.flatten(0, -2).clone()
        pairs = [weight.to(result.dtype) for weight in weights]
        lows = []
        for span, scaling, a_R_I, b_O_R in zip(spans, scalings, pairs[::2], pairs[1::2], strict=True):
            lows.append(x_T_I[span] @ a_R_I.T)
            y_T_O[span].addmm_(lows[-1], b_O_R.T, alpha=scaling)
        ctx.save_for_backward(x_T_I, *lows, *pairs)
        ctx.spans, ctx.scalings, ctx.check, ctx.shape = spans, scalings, check, x.shape
        return y_T_O.view_as(result)

    @staticmethod
    @once_differentiable  # whose type forbids to name an argument
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *grad_outputs: Tensor
    ) -> tuple[Tensor | None, ...]:
        ctx.check()
        (gradient,) = grad_outputs
        x_T_I, *saved = ctx.saved_tensors
        lows, pairs = saved[: len(ctx.spans)], saved[len(ctx.spans) :]
        gradient_T_O = gradient.flatten(0, -2)
        dx_T_I = torch.zeros_like(x_T_I) if ctx.needs_input_grad[1] else None
        found: list[Tensor | None] = []
        for index, (span, scaling) in enumerate(zip(ctx.spans, ctx.scalings, strict=True)):
            a_R_I, b_O_R = pairs[2 * index : 2 * index + 2]
            dlow_T_R = (gradient_T_O[span] @ b_O_R).mul_(scaling)
            found += [dlow_T_R.T @ x_T_I[span], (gradient_T_O[span].T @ lows[index]).mul_(scaling)]
            if dx_T_I is not None:
                torch.mm(dlow_T_R, a_R_I, out=dx_T_I[span])
        dx = dx_T_I.view(ctx.shape) if dx_T_I is not None else None
        return gradient, dx, None, None, None, *found

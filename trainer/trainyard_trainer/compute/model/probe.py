"""Whether a fast path gives the plain path's numbers on a model, tried on a few random tokens when it is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer import log
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.forward import open_forward
from trainyard_trainer.compute.rows.attention import CURRENT, UnsupportedAttention
from trainyard_trainer.compute.rows.example import Example

# Of a log-probability, and of a gradient relative to its length. float32 sums in another order differ by far less,
# bfloat16 by about this much on average; what is wrong, as a mask or a kernel, is off by far more.
MAX_MEAN_DIFFERENCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}
MAX_GRADIENT_DIFFERENCE = {torch.float32: 1e-3, torch.bfloat16: 0.3}
MAX_REASON_LENGTH = 1000  # messages of compilers are long
PREFIX, LENGTHS = 9, (5, 30, 17)


@dataclass(frozen=True)
class Probed:
    """The log-probabilities of the probe's tokens, and the gradient of their mean by what is added to all embeddings:
    it went backward through all that a training goes through."""

    logprobs_N: Tensor
    gradient_D: Tensor

    def differs_from(self, plain: "Probed", dtype: torch.dtype) -> str | None:
        """In words; None where it does not."""
        apart = (self.logprobs_N - plain.logprobs_N).abs().mean().item()
        if not apart <= MAX_MEAN_DIFFERENCE[dtype]:
            return f"log-probabilities differ by {apart:.2g}"
        turned = ((self.gradient_D - plain.gradient_D).norm() / plain.gradient_D.norm().clamp(min=1e-9)).item()
        if not turned <= MAX_GRADIENT_DIFFERENCE[dtype]:
            return f"gradients differ by {turned:.2g}"
        return None


def probe(base: Base) -> Probed:
    """By the path that `base.packs` names."""
    with push_embeddings(base) as push_D, open_forward(base, make_examples(base.vocabulary)) as (logprobs_N, _):
        if base.packs:
            CURRENT.require_known_masks()
        logprobs_N.mean().backward()
    assert push_D.grad is not None
    return Probed(logprobs_N.detach(), push_D.grad)


@contextmanager
def push_embeddings(base: Base) -> Iterator[Tensor]:
    """Something to take a gradient by, as nothing of the model itself changes: zeros that each embedding gets added."""
    embedding = cast(torch.nn.Embedding, base.model.get_input_embeddings())
    push_D = torch.zeros(embedding.weight.shape[-1], device=base.device, requires_grad=True)

    def push(_module: torch.nn.Module, _inputs: object, output: Tensor) -> Tensor:
        return output + push_D.to(output.dtype)

    handle = embedding.register_forward_hook(push)
    try:
        yield push_D
    finally:
        handle.remove()


def choose_packing(base: Base) -> bool:
    """False where rows without padding give other numbers with every attention, as on models with a recurrent state.

    Raises UnsupportedAttention where the model's attention differs from packed attention.
    """
    for CURRENT.uses_flex in (True, False) if base.device.type == "cuda" else (False,):
        difference = find_difference(base)
        if difference is None:
            return True
        instead = "packed rows do not use flex attention" if CURRENT.uses_flex else "rows are padded"
        log.warn(f"{instead}: several examples in one give other numbers", reason=difference[:MAX_REASON_LENGTH])
    return False


def find_difference(base: Base) -> str | None:
    """Why rows are not to be computed without padding; None where they may be."""
    try:
        packed, plain = probe(replace(base, packs=True)), probe(replace(base, packs=False))
    except UnsupportedAttention:
        raise
    except Exception as cause:  # whatever an unknown model, or a compiler, raises on an unusual call
        return f"{type(cause).__name__}: {cause}"
    return packed.differs_from(plain, base.model.dtype)


def make_examples(vocabulary: int) -> list[Example]:
    """Three with a common start and one by itself."""
    random = np.random.default_rng(0)
    start = random.integers(vocabulary, size=PREFIX)
    examples = []
    for length in LENGTHS:
        ids = np.concatenate([start, random.integers(vocabulary, size=length)])
        examples.append(Example(ids, np.arange(len(ids)) >= PREFIX, 0))
    alone = random.integers(vocabulary, size=20)
    return [*examples, Example(alone, np.arange(20) > 0, 1)]

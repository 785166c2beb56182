"""Requests with a seed on a CPU.

vLLM computes a long prompt in parts. A part samples a token that nobody gets, and vLLM then turns the request's random
numbers back. A CPU's generator has no such position: the engine would end, with all requests in it.
"""

from typing import Any

import torch
from vllm.v1.worker.cpu_model_runner import CPUModelRunner

# The generators of the step's parts by their rows, and the states that they had before. A worker computes one step at a
# time.
seeded_parts: dict[int, tuple[torch.Generator, torch.Tensor]] = {}

sample = CPUModelRunner._sample
keep_books = CPUModelRunner._bookkeeping_sync


def keep_seeds() -> None:
    """For the processes of the workers."""
    CPUModelRunner._sample = remember_and_sample
    CPUModelRunner._bookkeeping_sync = keep_books_without_parts


def remember_and_sample(self: CPUModelRunner, *args: Any, **named: Any) -> Any:
    batch = self.input_batch
    parts = self.discard_request_mask.np[: batch.num_reqs].nonzero()[0]
    seeded = {int(row): batch.generators[row] for row in parts if row in batch.generators}
    seeded_parts.clear()
    seeded_parts.update({row: (generator, generator.get_state()) for row, generator in seeded.items()})
    return sample(self, *args, **named)


def keep_books_without_parts(self: CPUModelRunner, *args: Any, **named: Any) -> Any:
    for row, (generator, state) in seeded_parts.items():
        generator.set_state(state)
        del self.input_batch.generators[row]
    try:
        return keep_books(self, *args, **named)
    finally:
        self.input_batch.generators.update({row: kept[0] for row, kept in seeded_parts.items()})

"""The tolerance of comparisons of random sums that two programs compute.

Both round their numbers in different places. What a large term loses stays in the sum when the large terms cancel out.
So the tolerance follows the sizes of the terms, and not the size of the result.
"""

from typing import TypeVar

import torch

Size = TypeVar("Size", float, torch.Tensor)

# A term is the result of several operations, and each of them rounds it.
ROUNDINGS = 8


def bound_rounding(size: Size, dtype: torch.dtype = torch.float32) -> Size:
    """How far apart two sums may be if the absolute values of their terms add up to `size`."""
    return ROUNDINGS * torch.finfo(dtype).eps * size

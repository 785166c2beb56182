"""Log-probabilities and entropies of chosen tokens. They are computed in chunks, so that logits [N, V] never exist
whole."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import log_softmax
from torch.utils.checkpoint import checkpoint

# The float32 values in a chunk's logits: half a GiB on a GPU, where large products are fast, and an eighth of it
# elsewhere.
CHUNK_VALUES = {"cuda": 1 << 27, "cpu": 1 << 25}

Head = Callable[[Tensor], Tensor]


def score_tokens(logits_N_V: Tensor, targets_N: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (log-probabilities [N], entropies [N]) in float32 at temperature 1. Entropies have no gradient."""
    logprobs_N_V = log_softmax(logits_N_V, dim=-1, dtype=torch.float32)
    with torch.no_grad():
        entropies_N = -logprobs_N_V.exp().mul_(logprobs_N_V).sum(dim=-1)
    return logprobs_N_V.gather(1, targets_N.unsqueeze(1)).squeeze(1), entropies_N


def score_hidden(head: Head, hidden_N_D: Tensor, targets_N: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """As `score_tokens`, from hidden states. For the gradient, a chunk is computed again."""
    size = max(1, CHUNK_VALUES[hidden_N_D.device.type] // vocabulary)

    def score(hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return score_tokens(head(hidden), targets)

    if len(targets_N) <= size:
        return score(hidden_N_D, targets_N)
    pairs = zip(hidden_N_D.split(size), targets_N.split(size), strict=True)
    # Nothing here is random, so the random state need not be saved.
    scores = [
        checkpoint(score, hidden, targets, use_reentrant=False, preserve_rng_state=False) for hidden, targets in pairs
    ]
    logprobs, entropies = zip(*scores, strict=True)
    return torch.cat(logprobs), torch.cat(entropies)

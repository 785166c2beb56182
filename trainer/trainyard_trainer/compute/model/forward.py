"""Computes the log-probabilities of trained tokens: as one row without padding, or with padding.

Both give the same numbers in the same order: example by example, token by token.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.sharding import gather_head
from trainyard_trainer.compute.rows.attention import CURRENT
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.layout import build_layout
from trainyard_trainer.compute.rows.logprobs import score_hidden, score_tokens


@contextmanager
def open_forward(base: Base, examples: Sequence[Example]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields (logprobs_N, entropies_N) of the examples' trained tokens. Call backward inside of the context."""
    with autocast(base), gather_head(base.model):
        if not base.packs:
            yield score_padded(base, examples)
            return
        layout = build_layout(examples, base.device)
        with CURRENT.use(layout):
            hidden_T_D = base.decoder(
                input_ids=layout.tokens_T[None], position_ids=layout.positions_T[None], use_cache=False
            ).last_hidden_state[0]
            chosen_N_D = hidden_T_D[layout.predictors_N]
            yield score_hidden(base.head, chosen_N_D, layout.targets_N, base.vocabulary)


def autocast(base: Base) -> torch.autocast:
    return torch.autocast(base.device.type, torch.bfloat16, enabled=base.model.dtype == torch.bfloat16)


def score_padded(base: Base, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """The plain path: a batch of rows, padded on the right, with all logits at once."""
    tokens_B_T = pad_rows([example.ids for example in examples], base.device)
    attention_B_T = pad_rows([np.ones_like(example.ids) for example in examples], base.device)
    mask_B_T = pad_rows([example.trained.astype(np.int64) for example in examples], base.device).bool()
    logits_B_T_V = base.model(input_ids=tokens_B_T, attention_mask=attention_B_T, use_cache=False).logits
    predicted_B_T = mask_B_T.roll(-1, dims=1)  # position t - 1 predicts token t
    return score_tokens(logits_B_T_V[predicted_B_T], tokens_B_T[mask_B_T])


def pad_rows(rows: Sequence[np.ndarray], device: torch.device) -> Tensor:
    """[B, T] of int64, padded with 0 on the right."""
    padded = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return torch.from_numpy(padded).to(device)

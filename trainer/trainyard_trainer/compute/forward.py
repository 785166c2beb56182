"""From rows of tokens to tensors, and from the model to the log-probabilities of their trained tokens."""

import torch
from torch import Tensor

from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.loss import TokenBatch


def pad_rows(rows: list[list], fill: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Rows of unequal length as one [B, T] tensor, filled up on the right."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows], dtype=dtype, device=device)


def build_tokens(rows: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(tokens_B_T, attention_B_T). Padding is masked away, so that any id will do for it."""
    attention = [[1] * len(row) for row in rows]
    return pad_rows(rows, 0, torch.long, device), pad_rows(attention, 0, torch.long, device)


def build_mask(trained: list[list[bool]], device: torch.device) -> Tensor:
    """mask_B_T of the tokens to train on."""
    mask = pad_rows(trained, False, torch.bool, device)
    mask[:, 0] = False  # nothing comes before the first token, so nothing predicts it
    return mask


def build_batch(samples: list[Sample], device: torch.device) -> TokenBatch:
    mask = build_mask([sample.tokens.trained for sample in samples], device)
    old = pad_rows([sample.tokens.logprobs for sample in samples], float("nan"), torch.float32, device)
    advantages = torch.tensor([[sample.advantage] for sample in samples], device=device)
    weights = torch.tensor([[sample.weight] for sample in samples], device=device)
    return TokenBatch(mask, old, advantages.expand_as(old), weights.expand_as(old))


def compute_logprobs(model: torch.nn.Module, rows: list[list[int]], mask: Tensor) -> tuple[Tensor, Tensor]:
    """(logprobs_B_T, entropies_B_T) of the tokens at `mask`, zero elsewhere; in float32 at temperature 1."""
    tokens_B_T, attention_B_T = build_tokens(rows, mask.device)
    cuda = mask.device.type == "cuda"
    with torch.autocast(mask.device.type, torch.bfloat16, enabled=cuda):
        logits_B_T_V = model(input_ids=tokens_B_T, attention_mask=attention_B_T, use_cache=False).logits
    predicted = mask.roll(-1, dims=1)  # position t - 1 predicts token t
    log_softmax_N_V = logits_B_T_V[predicted].float().log_softmax(dim=-1)
    chosen_N = log_softmax_N_V.gather(1, tokens_B_T[mask].unsqueeze(1)).squeeze(1)
    entropy_N = -(log_softmax_N_V.detach().exp() * log_softmax_N_V.detach()).sum(dim=-1)
    logprobs_B_T = torch.zeros(mask.shape, device=mask.device).masked_scatter(mask, chosen_N)
    entropies_B_T = torch.zeros(mask.shape, device=mask.device).masked_scatter(mask, entropy_N)
    return logprobs_B_T, entropies_B_T

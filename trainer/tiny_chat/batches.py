"""Padded token batches of dialogues. The loss covers the assistant's turns."""

from collections.abc import Iterator
from itertools import islice

import torch
from transformers import PreTrainedTokenizerFast

from tiny_chat.tokenizer import PAD_ID

IGNORED = -100
# This many dialogues are sorted by length together, so that batches need little padding.
POOL = 512


def encode_dialogue(tokenizer: PreTrainedTokenizerFast, dialogue: dict) -> tuple[list[int], list[int]]:
    """Token ids and labels. The labels cover every assistant turn, including its end token."""
    ids: list[int] = []
    labels: list[int] = []
    for count, message in enumerate(dialogue["messages"]):
        if message["role"] == "assistant":
            append_piece(tokenizer, dialogue, count, True, (ids, labels), trained=False)
            append_piece(tokenizer, dialogue, count + 1, False, (ids, labels), trained=True)
    return ids, labels


def append_piece(tokenizer, dialogue: dict, count: int, prompt: bool, row: tuple, *, trained: bool) -> None:
    """Renders the first `count` messages and appends the part that the row lacks."""
    ids, labels = row
    rendered = tokenizer.apply_chat_template(
        dialogue["messages"][:count],
        tools=dialogue["tools"],
        add_generation_prompt=prompt,
        return_dict=False,
    )
    piece = rendered[len(ids) :]
    end = tokenizer.eos_token_id
    if trained:  # the line break after the end token belongs to the next turn
        piece = piece[: len(piece) - piece[::-1].index(end)]
    ids += piece
    labels += piece if trained else [IGNORED] * len(piece)


def pad_batch(rows: list[tuple[list[int], list[int]]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(len(ids) for ids, _ in rows)
    ids_B_T = torch.full((len(rows), longest), pad)
    labels_B_T = torch.full((len(rows), longest), IGNORED)
    for row, (ids, labels) in enumerate(rows):
        ids_B_T[row, : len(ids)] = torch.tensor(ids)
        labels_B_T[row, : len(labels)] = torch.tensor(labels)
    return ids_B_T, labels_B_T


def generate_batches(
    tokenizer: PreTrainedTokenizerFast, dialogues: Iterator[dict], batch_tokens: int, generator: torch.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields (ids_B_T, labels_B_T) of at most about `batch_tokens` tokens, including padding."""
    while True:
        rows = sorted(
            (encode_dialogue(tokenizer, dialogue) for dialogue in islice(dialogues, POOL)),
            key=lambda row: len(row[0]),
        )
        batches, batch = [], []
        for row in rows:
            if batch and len(row[0]) * (len(batch) + 1) > batch_tokens:
                batches.append(batch)
                batch = []
            batch.append(row)
        batches.append(batch)
        for index in torch.randperm(len(batches), generator=generator).tolist():
            yield pad_batch(batches[index], PAD_ID)

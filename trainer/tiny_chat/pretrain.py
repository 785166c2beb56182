"""Trains the tiny chat model from scratch: `python -m tiny_chat.pretrain OUT_DIR`. Takes about twelve minutes on one
core.

The result is `models/tiny-chat`, byte for byte if the CPU and PyTorch round alike. After a change of the text, the
tokenizer or this script, run it again, check `tiny_chat.check_learning`, and commit the model with the change.
"""

import argparse
import math
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tiny_chat.batches import generate_batches
from tiny_chat.corpus import generate_dialogues
from tiny_chat.tokenizer import CONTEXT_LENGTH, END_ID, PAD_ID, VOCABULARY_SIZE, train_tokenizer

SEED = 20260
TOKENIZER_DIALOGUES = 20_000
STEPS = 2_000
WARMUP_STEPS = 50
BATCH_TOKENS = 4_096
PEAK_LEARNING_RATE = 4e-3


def build_model() -> LlamaForCausalLM:
    """0.7M parameters. A head size of 32 is the smallest that vLLM's CPU attention supports."""
    config = LlamaConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=128,
        intermediate_size=320,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=END_ID,
        pad_token_id=PAD_ID,
        dtype="float32",
    )
    return LlamaForCausalLM(config)


def list_texts() -> Iterator[str]:
    """The texts that the tokenizer is trained on."""
    for dialogue in islice(generate_dialogues(SEED), TOKENIZER_DIALOGUES):
        yield from (message["content"] for message in dialogue["messages"])


def schedule_rate(step: int) -> float:
    """Linear warm-up, then a cosine down to zero."""
    if step < WARMUP_STEPS:
        return (step + 1) / WARMUP_STEPS
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP_STEPS) / (STEPS - WARMUP_STEPS)))


def train_model(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    batches = generate_batches(
        tokenizer, generate_dialogues(SEED + 1), BATCH_TOKENS, torch.Generator().manual_seed(SEED)
    )
    optimizer = torch.optim.AdamW(model.parameters(), PEAK_LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule_rate)
    started = time.monotonic()
    for step, (ids_B_T, labels_B_T) in enumerate(islice(batches, STEPS)):
        mask_B_T = ids_B_T != tokenizer.pad_token_id
        loss = model(input_ids=ids_B_T, attention_mask=mask_B_T, labels=labels_B_T).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        if step % 100 == 99:
            print(f"step {step + 1} of {STEPS}: loss {loss.item():.3f}, {time.monotonic() - started:.0f} s", flush=True)


def save_model(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, do_sample=True, temperature=1.0
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    tokenizer = train_tokenizer(list_texts())
    model = build_model()
    print(f"{model.num_parameters():,} parameters", flush=True)
    train_model(model, tokenizer)
    save_model(model, tokenizer, arguments.out)


if __name__ == "__main__":
    main()

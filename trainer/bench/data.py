"""The benchmarks' training data: random tokens, the same for all contestants."""

from collections.abc import Sequence

import numpy as np

from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step as build_rl_step
from trainyard_trainer.sft.batches import SftSteps
from trainyard_trainer.sft.settings import SftConfig

VOCABULARY = 1024
LEARNING_RATE = 1e-3
MAX_LENGTH = 4096
# Conversations: most are short, a few are long (log-normal). The first third of each is not trained on.
ROWS_PER_STEP, STEPS = 32, 2
MEDIAN_LENGTH, SPREAD, MIN_LENGTH, MAX_LENGTH = 64, 1.0, 16, 2048
# Jobs of several models, with SFT's default batch size.
TENANTS, TENANT_ROWS_PER_STEP, TENANT_STEPS = 4, 2, 8
# Groups of completions of one prompt.
GROUPS, COMPLETIONS = 4, 8
PROMPT_LENGTHS, COMPLETION_LENGTHS = (128, 385), (32, 257)
# The default of TRL's GRPO. ART's default form clips differently.
RL_CONFIG = parse_config({"ppo": True, "learning_rate": LEARNING_RATE})


def make_rows(count: int = ROWS_PER_STEP * STEPS, *, seed: int = 0) -> list[Example]:
    """Rows with the same lengths for every seed."""
    drawn = np.random.default_rng(0).normal(np.log(MEDIAN_LENGTH), SPREAD, count)
    lengths = np.exp(drawn).clip(MIN_LENGTH, MAX_LENGTH).astype(int)
    random = np.random.default_rng(seed)
    return [make_row(random, length, index) for index, length in enumerate(lengths)]


def make_row(random: np.random.Generator, length: int, family: int) -> Example:
    return Example(random.integers(3, VOCABULARY, length), np.arange(length) >= max(1, length // 3), family)


def make_sft_steps(rows: Sequence[Example], rows_per_step: int = ROWS_PER_STEP) -> list[Step]:
    return list(SftSteps(rows, SftConfig(batch_size=rows_per_step, learning_rate=LEARNING_RATE), MAX_LENGTH))


def make_tenants() -> list[list[Step]]:
    """Small jobs of several models."""
    rows = [make_rows(TENANT_ROWS_PER_STEP * TENANT_STEPS, seed=tenant) for tenant in range(TENANTS)]
    return [make_sft_steps(each, TENANT_ROWS_PER_STEP) for each in rows]


def make_samples(seed: int) -> list[Sample]:
    random = np.random.default_rng(seed)
    samples: list[Sample] = []
    for group in range(GROUPS):
        prompt = random.integers(3, VOCABULARY, random.integers(*PROMPT_LENGTHS))
        samples += [make_sample(random, prompt, group, number) for number in range(COMPLETIONS)]
    return samples


def make_sample(random: np.random.Generator, prompt: np.ndarray, group: int, number: int) -> Sample:
    """An answer of random tokens with similar probabilities, rewarded or not."""
    answer = random.integers(3, VOCABULARY, random.integers(*COMPLETION_LENGTHS))
    ids = np.concatenate([prompt, answer])
    old = random.normal(-np.log(VOCABULARY), 0.1, len(answer)).astype(np.float32)
    advantage = 1.0 if number % 2 else -1.0
    return Sample(ids, np.arange(len(ids)) >= len(prompt), group, number, 0, advantage, 1.0, old)


def make_rl_steps() -> list[Step]:
    return [build_rl_step(make_samples(seed), RL_CONFIG) for seed in range(STEPS)]

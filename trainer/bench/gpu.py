"""`python -m bench.gpu`: how fast the trainer's own steps are on a GPU, on a model of the shape of Qwen3-4B with random
weights, LoRA of rank 16, and sequences of 16k tokens. One JSON object on standard output: figures by name.

The model FLOPs utilization counts operations a token as those do whose figures ours are compared with: their tokens per
second and their MFU make 34.6 billion, so that MFU and speed differ from theirs by the same factor. Tokens are those of
sequences as they are given: of a prompt that is computed once for a group, each sequence's.
"""

import json
import statistics
import sys
from typing import cast

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerBase, Qwen3Config

from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import forbid_dropout, prepare
from trainyard_trainer.compute.model.sharding import get_head
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.model.targets import choose_targets
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.compute.scheduling.policy import DEFAULT_GPU_TOKENS, Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler, measure_memory
from trainyard_trainer.compute.scheduling.training_run import StepReport, TrainingRun
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step as build_rl_step
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.sft.objective import SftObjective
from trainyard_trainer.sft.recipe import SFT

QWEN3_4B = Qwen3Config(
    hidden_size=2560,
    intermediate_size=9728,
    num_hidden_layers=36,
    num_attention_heads=32,
    vocab_size=151_936,
    num_key_value_heads=8,
    head_dim=128,
    tie_word_embeddings=True,
    max_position_embeddings=32_768,
)
RANK, LENGTH = 16, 16_384
SEQUENCES, TIMED_STEPS = 4, 3
LEARNING_RATE = 1e-5
# The peak of dense bfloat16 products in operations per second, from the vendor, by a part of the device's name.
PEAKS = {"H200": 989.5e12, "H100": 989.5e12, "A100": 312e12, "L40S": 362e12, "B200": 2250e12}
# Others reach 6,200 tokens per second on an H100, and call that an MFU of 21.7 %.
OPERATIONS_PER_TOKEN = 0.217 * PEAKS["H100"] / 6200


def load_random(device: torch.device) -> Base:
    """Loads random weights."""
    with device:
        model = AutoModelForCausalLM.from_config(QWEN3_4B, dtype=torch.bfloat16)
    model.requires_grad_(False)
    model.config.use_cache = False
    forbid_dropout(model.train())
    tokenizer = cast(PreTrainedTokenizerBase, None)  # there is no text here
    return prepare(Base("random", model, tokenizer, device, get_head(model).out_features))


def make_sft_step(vocabulary: int, seed: int) -> Step:
    """Conversations that are trained on after their first third."""
    random = np.random.default_rng(seed)
    rows = [Example(random.integers(vocabulary, size=LENGTH), mask(3), index) for index in range(SEQUENCES)]
    trained = sum(row.num_trained for row in rows)
    return Step(rows, SftObjective(SEQUENCES, SEQUENCES * LENGTH, 0), LEARNING_RATE, trained)


def make_rl_step(vocabulary: int, seed: int) -> Step:
    """Answers to one prompt that is a quarter of each sequence."""
    random = np.random.default_rng(seed)
    prompt = random.integers(vocabulary, size=LENGTH // 4)
    old = np.full(LENGTH - len(prompt), -np.log(vocabulary), np.float32)

    def make_sample(index: int) -> Sample:
        ids = np.concatenate([prompt, random.integers(vocabulary, size=len(old))])
        return Sample(ids, mask(4), 0, index, 0, 1.0 if index % 2 else -1.0, 1.0, old)

    return build_rl_step(
        [make_sample(index) for index in range(SEQUENCES)], parse_config({"learning_rate": LEARNING_RATE})
    )


def mask(share: int) -> np.ndarray:
    return np.arange(LENGTH) >= LENGTH // share


METHODS = {"sft": (SFT, make_sft_step), "rl": (RL, make_rl_step)}


def measure(scheduler: Scheduler, method: str) -> dict[str, float]:
    """Measures steps as jobs use them. The first one is not counted, because it compiles kernels."""
    executor, (recipe, make_step) = scheduler.executor, METHODS[method]
    shape = Shape(RANK, 2 * RANK, choose_targets(executor.base.model, None))
    slot = scheduler.call(lambda: executor.open(shape, None))
    steps = [make_step(executor.base.vocabulary, seed) for seed in range(1 + TIMED_STEPS)]
    torch.cuda.reset_peak_memory_stats()
    training_run = TrainingRun(slot, recipe, steps, "bench", lambda: None, save_seconds=float("inf"))
    scheduler.submit(training_run)
    reports = [report for report in training_run.read_reports() if isinstance(report, StepReport)]
    found = {f"{method}_peak_gib": measure_memory() / 2**30}
    scheduler.call(lambda: executor.close(slot))
    speed = SEQUENCES * LENGTH / statistics.median(report.seconds for report in reports[1:])
    found[f"{method}_tokens_per_second"] = speed
    name = torch.cuda.get_device_name()
    for peak in (value for key, value in PEAKS.items() if key in name):
        found[f"{method}_mfu_percent"] = 100 * speed * OPERATIONS_PER_TOKEN / peak
    return found


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("bench.gpu needs a GPU that torch can compute on, and there is none.")
    base = load_random(torch.device("cuda", 0))
    with Scheduler(Executor(base), Policy(max(DEFAULT_GPU_TOKENS, LENGTH))) as scheduler:
        print(json.dumps({**measure(scheduler, "sft"), **measure(scheduler, "rl")}))


if __name__ == "__main__":
    main()

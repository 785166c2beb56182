"""`python -m bench.gpu`: how fast the trainer's own steps are on a GPU, on models of the shapes of Qwen3's small ones
with random weights. One JSON object on standard output: figures by name.

Operations per token are counted as for training all P weights, which is how such figures are commonly told (Chowdhery
et al., PaLM, appendix B), although the base is frozen:

    6 P + 12 L H D (T / 2)        mfu_percent

with P the weights that multiply (the output embedding once, the input embedding not), L layers, H heads of size D, and
T tokens of a sequence, whose attention is causal. What LoRA needs is less, as no gradient of a frozen weight is taken:

    4 P + 12 L H D (T / 2) + 6 R        lora_mfu_percent, with R the adapter's weights

Neither counts what is computed again under gradient checkpointing. The anchors' tokens per second and MFU make 34.6
billion operations a token; `mfu_as_anchors_percent` counts these, so that it and theirs differ as the speeds do.
Tokens are those of sequences as they are given: of a prompt that is computed once for a group, each sequence's.
"""

import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedTokenizerBase, Qwen3Config

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

MODELS = {
    "0_6b": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16},
    "4b": {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32},
}
COMMON = {"vocab_size": 151_936, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True}
RANKS, LENGTHS, METHODS = (16, 8), (8192, 16_384), ("sft", "rl")
SEQUENCES, TIMED_STEPS = 4, 3
LEARNING_RATE = 1e-5
# The peak of dense bfloat16 products in operations per second, from the vendor, by a part of the device's name.
PEAKS = {"H200": 989.5e12, "H100": 989.5e12, "A100": 312e12, "L40S": 362e12, "B200": 2250e12}
# Qwen3-4B, LoRA of rank 16, sequences of 16k tokens: published figures for one H100 and per GPU of H200s.
ANCHORS = {
    "anchor_h100_tokens_per_second": 6200.0,
    "anchor_h100_mfu_percent": 21.7,
    "anchor_h200_tokens_per_second": 6550.0,
}
ANCHOR_OPERATIONS = 0.217 * 989.5e12 / 6200


@dataclass(frozen=True)
class Case:
    """The sequences that are measured together."""

    model: str
    rank: int
    length: int
    method: str

    @property
    def name(self) -> str:
        return f"{self.model}_r{self.rank}_{self.length // 1024}k_{self.method}"


def load_random(shape: dict[str, int], device: torch.device) -> Base:
    """Loads random weights in the trainer's type for this device."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    longest = max(LENGTHS) * 2
    with device:
        model = AutoModelForCausalLM.from_config(
            Qwen3Config(**{**COMMON, **shape}, max_position_embeddings=longest), dtype=dtype
        )
    model.requires_grad_(False)
    model.config.use_cache = False
    forbid_dropout(model.train())
    tokenizer = cast(PreTrainedTokenizerBase, None)  # there is no text here
    return prepare(Base("random", model, tokenizer, device, get_head(model).out_features))


def make_step(method: str, length: int, vocabulary: int, seed: int) -> Step:
    """A step of sequences of one length: conversations that are trained on after their first third, or answers to one
    prompt that is a quarter of each."""
    random = np.random.default_rng(seed)
    if method == "sft":
        rows = [Example(random.integers(vocabulary, size=length), mask(length, 3), index) for index in range(SEQUENCES)]
        return Step(rows, SftObjective(SEQUENCES, SEQUENCES * length, 0), LEARNING_RATE, count_trained(rows))
    prompt = random.integers(vocabulary, size=length // 4)
    samples = [make_sample(random, prompt, length, vocabulary, index) for index in range(SEQUENCES)]
    return build_rl_step(samples, parse_config({"learning_rate": LEARNING_RATE}))


def make_sample(random: np.random.Generator, prompt: np.ndarray, length: int, vocabulary: int, index: int) -> Sample:
    ids = np.concatenate([prompt, random.integers(vocabulary, size=length - len(prompt))])
    old = np.full(length - len(prompt), -np.log(vocabulary), np.float32)
    return Sample(ids, mask(length, 4), 0, index, 0, 1.0 if index % 2 else -1.0, 1.0, old)


def mask(length: int, share: int) -> np.ndarray:
    return np.arange(length) >= length // share


def count_trained(examples: Sequence[Example]) -> int:
    return sum(example.num_trained for example in examples)


def measure(scheduler: Scheduler, case: Case, products: int) -> dict[str, float]:
    """Measures steps as jobs use them. The first one is not counted, because it compiles kernels."""
    base, recipe = scheduler.executor.base, SFT if case.method == "sft" else RL
    shape = Shape(case.rank, 2 * case.rank, choose_targets(base.model, None))
    slot = scheduler.call(lambda: scheduler.executor.open(shape, None))
    steps = [make_step(case.method, case.length, base.vocabulary, seed) for seed in range(1 + TIMED_STEPS)]
    if base.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    training_run = TrainingRun(slot, recipe, steps, "bench", lambda: None, save_seconds=float("inf"))
    scheduler.submit(training_run)
    reports = [report for report in training_run.read_reports() if isinstance(report, StepReport)]
    peak_bytes = measure_memory()
    adapter = sum(parameter.numel() for parameter in scheduler.executor.find(slot).parameters.values())
    scheduler.call(lambda: scheduler.executor.close(slot))
    speed = SEQUENCES * case.length / statistics.median(report.seconds for report in reports[1:])
    found = {"tokens_per_second": speed, "peak_gib": peak_bytes / 2**30}
    return found | describe_utilization(base, case, (products, adapter), speed)


def describe_utilization(base: Base, case: Case, weights: tuple[int, int], speed: float) -> dict[str, float]:
    """Empty when the device's peak is unknown."""
    name = torch.cuda.get_device_name() if base.device.type == "cuda" else ""
    peak = next((value for key, value in PEAKS.items() if key in name), None)
    if peak is None:
        return {}
    full, lora = count_operations(base.model.config, *weights, case.length)
    found = {"mfu_percent": 100 * speed * full / peak, "lora_mfu_percent": 100 * speed * lora / peak}
    if is_anchors_case(case):
        found["mfu_as_anchors_percent"] = 100 * speed * ANCHOR_OPERATIONS / peak
    return found


def count_products(base: Base) -> int:
    """Counts the weights that multiply: linear layers and the output embedding. Call it before adapters exist."""
    return sum(layer.weight.numel() for layer in base.model.modules() if isinstance(layer, torch.nn.Linear))


def count_operations(config: PreTrainedConfig, products: int, adapter: int, length: int) -> tuple[float, float]:
    """Operations per token: for full training, and for LoRA. See the module's docstring."""
    attention = 12 * config.num_hidden_layers * config.num_attention_heads * config.head_dim * length / 2
    return 6 * products + attention, 4 * products + attention + 6 * adapter


def is_anchors_case(case: Case) -> bool:
    return (case.model, case.rank, case.length) == ("4b", 16, 16_384)


def run(models: dict[str, dict[str, int]], lengths: Sequence[int], device: torch.device) -> Iterator[tuple[Case, dict]]:
    """Measures one model after the other. The cases have the order of the table."""
    for model, shape in models.items():
        base = load_random(shape, device)
        products = count_products(base)
        with Scheduler(Executor(base), Policy(max(DEFAULT_GPU_TOKENS, *lengths))) as scheduler:
            for case in (Case(model, *rest) for rest in product(RANKS, lengths, METHODS)):
                yield case, measure(scheduler, case, products)
        del base, scheduler
        torch.cuda.empty_cache()


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("bench.gpu needs a GPU that torch can compute on, and there is none.")
    figures = dict(ANCHORS)
    for case, values in run(MODELS, LENGTHS, torch.device("cuda", 0)):
        print(case.name, {name: round(value, 2) for name, value in values.items()}, file=sys.stderr)
        figures |= {f"{case.name}_{name}": value for name, value in values.items()}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

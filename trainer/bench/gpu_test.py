import pytest
import torch
from transformers import Qwen3Config

from bench import gpu
from bench.gpu import ANCHORS, Case, count_operations, run, summarize

TINY = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "head_dim": 8,
    "vocab_size": 97,
}
FIGURES = {"tokens_per_second", "peak_gib"}


def test_all_cases_are_measured_by_the_code_that_a_gpu_runs(monkeypatch):
    monkeypatch.setattr(gpu, "TIMED_STEPS", 1)
    monkeypatch.setattr(gpu, "SEQUENCES", 2)
    torch.set_num_threads(1)
    found = list(run({"4b": TINY}, (1024,), torch.device("cpu")))
    assert [case.name for case, _ in found] == [
        f"4b_r{rank}_1k_{method}" for rank in (16, 8) for method in ("sft", "rl")
    ]
    assert all(values.keys() == FIGURES and min(values.values()) > 0 for _, values in found)
    summary = summarize(found)
    assert summary["ratios"] == {}
    assert len(summary["figures"]) == len(ANCHORS) + len(found) * len(FIGURES)


def test_speeds_are_compared_where_the_anchors_were_measured():
    found = [
        (Case("4b", rank, length, method), {"tokens_per_second": 12_400.0})
        for rank in (16, 8)
        for length in (8192, 16_384)
        for method in ("sft", "rl")
    ]
    ratios = summarize(found)["ratios"]
    assert ratios == pytest.approx(
        {"ours_vs_anchor_h100": 2.0, "ours_vs_anchor_h200": 12_400 / 6550, "ours_vs_goal": 12_400 / 8500}
    )


def test_the_expected_speed_of_a_4b_model_is_between_training_adapters_and_all_weights():
    config = Qwen3Config(**(gpu.COMMON | gpu.MODELS["4b"]))
    full, lora = count_operations(config, 4_022_000_000, 33_000_000, 16_384)
    assert (lora, gpu.ANCHOR_OPERATIONS, full) == pytest.approx((30.8e9, 34.6e9, 38.6e9), rel=0.01)


def test_weights_that_multiply_are_counted():
    base = gpu.load_random(gpu.COMMON | TINY | {"hidden_size": 128, "vocab_size": 97}, torch.device("cpu"))
    layer = 128 * 64 * 2 + 128 * 64 * 2 + 3 * 128 * 96
    assert gpu.count_products(base) == 2 * layer + 97 * 128

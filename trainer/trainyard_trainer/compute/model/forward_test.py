"""Padded, packed and prefix-shared computation give the same results, for whole steps and for microbatches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from testing.seeds import draw_seeds
from testing.tiny_models import (
    LLAMA_TARGETS,
    differ,
    make_base,
    make_families,
    open_random,
    pop_gradients,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.compute.rows.layout import build_layout
from trainyard_trainer.compute.rows.step import (
    Microbatch,
    MicrobatchResult,
    Step,
    split_in_order,
    split_packed,
    split_padded,
)
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.sft.objective import SftObjective

WHOLE = 10**9


@pytest.fixture(scope="module")
def executor() -> Executor:
    return Executor(make_base("Qwen3"))


@pytest.fixture(scope="module")
def slot(executor: Executor) -> str:
    return open_random(executor, Shape(4, 8, LLAMA_TARGETS))


def make_sft_step(seed: int) -> Step:
    examples = make_families(seed, 4)
    return Step(examples, SftObjective(0, 0, 0), 1e-3, sum(example.num_trained for example in examples))


def make_rl_step(seed: int, **config: object) -> Step:
    random = np.random.default_rng(seed)
    samples = [
        Sample(
            example.ids,
            example.trained,
            example.family,
            0,
            0,
            advantage=random.normal(),
            weight=random.uniform(0.5, 2),
            old_logprobs=(random.normal(size=example.num_trained) - 5).astype(np.float32),
            reference_logprobs=(random.normal(size=example.num_trained) - 5).astype(np.float32),
        )
        for example in make_families(seed, 4)
    ]
    return build_step(samples, parse_config(config))


STEPS = {
    "SFT": make_sft_step,
    "RL": make_rl_step,
    "RL by sequences": lambda seed: make_rl_step(seed, ppo=True, importance_sampling_level="sequence"),
    "RL with a penalty": lambda seed: make_rl_step(seed, kl_penalty_coef=0.3, importance_sampling_level="average"),
}


def compute(
    executor: Executor, slot: str, step: Step, microbatches: list[list[int]]
) -> tuple[list[MicrobatchResult], dict[str, Tensor]]:
    mean_kl = 0.0
    examples = [[step.examples[index] for index in microbatch] for microbatch in microbatches]
    if step.objective.needs_prepass:
        scored = executor.score(slot, examples, lambda: None)
        mean_kl = step.objective.compute_mean_kl([example for microbatch in examples for example in microbatch], scored)
    passes = [[Microbatch(slot, microbatch, step.objective, step.divisor, mean_kl)] for microbatch in examples]
    results = [result for (result,) in executor.backward(passes, lambda: None)]
    return results, pop_gradients(executor, slot)


def sum_up(results: list[MicrobatchResult]) -> dict[str, float]:
    totals = {"loss": sum(result.loss for result in results)}
    for name in results[0].sums:
        totals[name] = sum(result.sums[name] for result in results)
    return totals


def require_equal(found: tuple, wanted: tuple) -> None:
    totals = sum_up(wanted[0])
    scale = max(1.0, abs(totals["loss"]))
    assert sum_up(found[0]) == pytest.approx(totals, rel=1e-5, abs=1e-5 * scale)
    assert differ(found[1], wanted[1]) < 1e-4


def separate(step: Step) -> Step:
    """The same examples, each in its own family, so that nothing is shared."""
    return replace(step, examples=[replace(example, family=index) for index, example in enumerate(step.examples)])


def use(executor: Executor, monkeypatch: pytest.MonkeyPatch, **changes: object) -> Base:
    monkeypatch.setattr(executor, "base", replace(executor.base, **changes))
    return executor.base


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("seed", range(2))
def test_padded_packed_and_shared_computation_agree(executor, slot, monkeypatch, seed, kind):
    step = STEPS[kind](seed)
    shared = compute(executor, slot, step, split_packed(step.examples, WHOLE))
    packed = compute(executor, slot, separate(step), split_packed(step.examples, WHOLE))
    use(executor, monkeypatch, packs=False)
    padded = compute(executor, slot, step, split_padded(step.examples, WHOLE))
    require_equal(packed, padded)
    require_equal(shared, padded)


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("budget", [1, 40, 100])
def test_a_step_in_microbatches_equals_the_whole_step(executor, slot, monkeypatch, budget, kind):
    step = STEPS[kind](7)
    whole = compute(executor, slot, step, split_packed(step.examples, WHOLE))
    require_equal(compute(executor, slot, step, split_packed(step.examples, budget)), whole)
    use(executor, monkeypatch, packs=False)
    require_equal(compute(executor, slot, step, split_padded(step.examples, budget)), whole)


def test_columns_belong_to_their_examples_in_any_computation(executor, slot):
    step = make_rl_step(11)
    found = {}
    for budget in (WHOLE, 40):
        microbatches = split_packed(step.examples, budget)
        results, _ = compute(executor, slot, step, microbatches)
        placed = [
            pair
            for microbatch, result in zip(microbatches, results, strict=True)
            for pair in zip(microbatch, result.columns, strict=True)
        ]
        found[budget] = [columns for _, columns in sorted(placed, key=lambda pair: pair[0])]
    for example, one, other in zip(step.examples, found[WHOLE], found[40], strict=True):
        assert {len(column) for column in one.values()} == {example.num_trained}
        for name, column in one.items():
            np.testing.assert_allclose(column, other[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_scores_do_not_depend_on_what_else_is_scored(executor, slot, monkeypatch):
    examples = make_families(4, 4)
    together = executor.score(slot, [examples], lambda: None)
    alone = executor.score(slot, [[example] for example in examples], lambda: None)
    use(executor, monkeypatch, packs=False)
    padded = executor.score(slot, [examples], lambda: None)
    for one, other, third in zip(together, alone, padded, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)
        np.testing.assert_allclose(one, third, atol=2e-5)


@pytest.mark.parametrize("packs", [True, False])
def test_gradient_checkpointing_does_not_change_the_results(executor, slot, monkeypatch, packs):
    base = use(executor, monkeypatch, packs=packs)
    step = make_rl_step(5)
    microbatches = split_packed(step.examples, 60)
    wanted = compute(executor, slot, step, microbatches)
    base.model.gradient_checkpointing_enable({"use_reentrant": False})
    try:
        found = compute(executor, slot, step, microbatches)
    finally:
        base.model.gradient_checkpointing_disable()
    require_equal(found, wanted)
    assert all(layer.training for layer in base.decoder.layers)  # otherwise nothing is checkpointed


@pytest.mark.parametrize("seed", draw_seeds(3))
def test_microbatches_have_each_example_once_within_the_budget(seed):
    examples = make_families(seed, 8)
    for split, measure in SPLITS.items():
        for budget in (1, 30, 80, 200, WHOLE):
            microbatches = split(examples, budget)
            indices = [index for microbatch in microbatches for index in microbatch]
            assert (sorted(indices) if split is split_padded else indices) == list(range(len(examples)))
            for microbatch in microbatches:
                members = [examples[index] for index in microbatch]
                assert len(microbatch) == 1 or measure(members) <= budget
        assert len(split(examples, WHOLE)) == 1


def count_packed(members: list[Example]) -> int:
    return build_layout(members, torch.device("cpu")).num_tokens


def count_padded(members: list[Example]) -> int:
    return len(members) * max(example.num_tokens for example in members)


SPLITS = {split_packed: count_packed, split_padded: count_padded, split_in_order: count_padded}


@pytest.mark.parametrize("split", SPLITS)
def test_examples_without_a_trained_token_are_in_no_microbatch(split):
    examples = make_families(0, 2)
    idle = Example(np.arange(5), np.zeros(5, bool), 9)
    microbatches = split([idle, *examples, idle], WHOLE)
    assert sorted(index for microbatch in microbatches for index in microbatch) == list(range(1, len(examples) + 1))
    assert split([idle], WHOLE) == []

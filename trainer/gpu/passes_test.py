from dataclasses import replace

import pytest
import torch

from gpu.models import DEVICE, GRADIENT_DIFFERENCE, LOSS_DIFFERENCE, TYPES, load_prepared
from testing.tiny_models import (
    LLAMA_TARGETS,
    SFT,
    backward,
    differ,
    make_families,
    open_random,
    pop_gradients,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.step import Microbatch, Step
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import StepReport, TrainingRun
from trainyard_trainer.failures import explain_failure
from trainyard_trainer.sft.recipe import SFT as SFT_RECIPE

SHAPE = Shape(8, 16, LLAMA_TARGETS)
HEADS = {"head_dim": 32}


@pytest.fixture(params=TYPES, ids=str)
def executor(request):
    return Executor(load_prepared("Qwen3", request.param, **HEADS))


def require_same(executor, one, other):
    (loss, gradients), (other_loss, other_gradients) = one, other
    assert loss == pytest.approx(other_loss, rel=LOSS_DIFFERENCE[executor.base.model.dtype])
    assert differ(gradients, other_gradients) < GRADIENT_DIFFERENCE[executor.base.model.dtype]


def compute(executor, slot, examples):
    return backward(executor, slot, examples).loss, pop_gradients(executor, slot)


def test_rows_have_the_loss_and_gradients_of_padded_batches(executor):
    assert executor.base.packs
    slot, examples = open_random(executor, SHAPE), make_families(2, 5, max_length=200)
    packed = compute(executor, slot, examples)
    executor.base = replace(executor.base, packs=False)
    require_same(executor, packed, compute(executor, slot, examples))


def test_layers_that_are_computed_again_have_the_gradients_of_layers_that_are_kept(executor):
    slot, examples = open_random(executor, SHAPE), make_families(3, 5, max_length=200)
    again = compute(executor, slot, examples)
    executor.base.model.gradient_checkpointing_disable()
    require_same(executor, again, compute(executor, slot, examples))


def test_models_in_one_pass_have_the_gradients_of_each_alone(executor):
    slots = [open_random(executor, shape, seed) for seed, shape in enumerate((SHAPE, Shape(16, 8, ("q_proj",))))]
    groups = [make_families(seed, 3, max_length=100) for seed in (4, 5)]
    alone = [compute(executor, slot, examples) for slot, examples in zip(slots, groups, strict=True)]
    microbatches = [
        Microbatch(slot, examples, SFT, sum(example.num_trained for example in examples), 0.0)
        for slot, examples in zip(slots, groups, strict=True)
    ]
    (results,) = executor.backward([microbatches], lambda: None)
    for slot, result, wanted in zip(slots, results, alone, strict=True):
        require_same(executor, (result.loss, pop_gradients(executor, slot)), wanted)


def test_a_state_that_is_read_and_filled_into_another_slot_goes_on_as_it_would_have(executor):
    examples = make_families(6, 4)
    first = open_random(executor, SHAPE)
    step_optimizer(executor, first, examples)
    saved = executor.read(first)
    second = executor.open(SHAPE, saved)
    parameters = executor.find(second).parameters.values()
    assert {(parameter.dtype, parameter.device.type) for parameter in parameters} == {(torch.float32, "cuda")}
    assert second != first
    losses = [[step_optimizer(executor, slot, examples) for _ in range(3)] for slot in (first, second)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSS_DIFFERENCE[executor.base.model.dtype])
    executor.close(second)
    assert executor.open(SHAPE, None) == second


def step_optimizer(executor, slot, examples):
    loss = backward(executor, slot, examples).loss
    executor.step_optimizer(slot, SFT_RECIPE, 1e-3)
    return loss


def measure_peak(executor, slot, examples):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    compute(executor, slot, examples)
    return torch.cuda.max_memory_reserved()


@pytest.fixture
def bounded():
    """Limits the memory that torch may use, in bytes."""
    total = torch.cuda.get_device_properties(DEVICE).total_memory
    yield lambda limit: torch.cuda.set_per_process_memory_fraction(limit / total)
    torch.cuda.set_per_process_memory_fraction(1.0)


def train(executor, examples, budget):
    step = Step(examples, SFT, 1e-3, sum(example.num_trained for example in examples))
    with Scheduler(executor, Policy(budget)) as scheduler:
        slot = scheduler.call(lambda: open_random(executor, SHAPE))
        run = TrainingRun(slot, SFT_RECIPE, [step], "acme", lambda: None, save_seconds=1e9)
        scheduler.submit(run)
        return [report.numbers["loss"] for report in run.read_reports() if isinstance(report, StepReport)]


def test_a_step_that_does_not_fit_into_the_memory_is_taken_in_halves(bounded, capfd):
    executor = Executor(load_prepared("Qwen3", torch.bfloat16, **HEADS, intermediate_size=8192))
    executor.base.model.gradient_checkpointing_disable()  # so that memory grows with a pass's tokens
    examples = [example for seed in range(40) for example in make_families(seed, 8, max_length=200)]
    examples = [replace(example, family=index) for index, example in enumerate(examples)]
    tokens = sum(example.num_tokens for example in examples)
    wanted = train(executor, examples, tokens)
    slot = open_random(executor, SHAPE)
    whole, half = (measure_peak(executor, slot, examples[: len(examples) // share]) for share in (1, 2))
    assert half < 0.8 * whole
    capfd.readouterr()
    torch.cuda.empty_cache()
    bounded((whole + half) / 2)
    assert train(executor, examples, tokens) == pytest.approx(wanted, rel=2e-2)
    assert "out of memory, trying again with smaller batches" in capfd.readouterr().out


def test_a_step_that_does_not_fit_in_halves_either_fails_the_job_with_its_reason(bounded):
    executor = Executor(load_prepared("Qwen3", torch.bfloat16, **HEADS, intermediate_size=8192))
    examples = make_families(0, 200, max_length=200)
    torch.cuda.empty_cache()
    slot = open_random(executor, SHAPE)
    executor.close(slot)
    bounded(torch.cuda.memory_reserved() + (8 << 20))
    with pytest.raises(torch.OutOfMemoryError) as caught:
        train(executor, examples, 1 << 20)
    failure = explain_failure(caught.value)
    assert (failure.category, failure.reason, failure.retryable) == ("Capacity", "CudaOutOfMemory", True)

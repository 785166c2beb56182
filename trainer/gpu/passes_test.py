from dataclasses import replace

import pytest
import torch

from gpu.models import DEVICE, GRADIENT_DIFFERENCE, LOSS_DIFFERENCE, TYPES, load_prepared
from trainyard_trainer.compute.machine import Machine
from trainyard_trainer.compute.models_for_tests import (
    LLAMA_TARGETS,
    SFT,
    backward,
    differ,
    make_families,
    open_random,
    take_gradients,
)
from trainyard_trainer.compute.optimizer import SFT as SFT_RECIPE
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.slots import Shape
from trainyard_trainer.compute.step import Part, Step
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.compute.work import StepTaken, Work
from trainyard_trainer.failures import explain_failure

SHAPE = Shape(8, 16, LLAMA_TARGETS)
HEADS = {"head_dim": 32}


@pytest.fixture(params=TYPES, ids=str)
def machine(request):
    return Machine(load_prepared("Qwen3", request.param, **HEADS))


def require_same(machine, one, other):
    (loss, gradients), (other_loss, other_gradients) = one, other
    assert loss == pytest.approx(other_loss, rel=LOSS_DIFFERENCE[machine.base.model.dtype])
    assert differ(gradients, other_gradients) < GRADIENT_DIFFERENCE[machine.base.model.dtype]


def compute(machine, slot, examples):
    return backward(machine, slot, examples).loss, take_gradients(machine, slot)


def test_rows_have_the_loss_and_gradients_of_padded_batches(machine):
    assert machine.base.packs
    slot, examples = open_random(machine, SHAPE), make_families(2, 5, longest=200)
    packed = compute(machine, slot, examples)
    machine.base = replace(machine.base, packs=False)
    require_same(machine, packed, compute(machine, slot, examples))


def test_layers_that_are_computed_again_have_the_gradients_of_layers_that_are_kept(machine):
    slot, examples = open_random(machine, SHAPE), make_families(3, 5, longest=200)
    again = compute(machine, slot, examples)
    machine.base.model.gradient_checkpointing_disable()
    require_same(machine, again, compute(machine, slot, examples))


def test_models_in_one_pass_have_the_gradients_of_each_alone(machine):
    slots = [open_random(machine, shape, seed) for seed, shape in enumerate((SHAPE, Shape(16, 8, ("q_proj",))))]
    groups = [make_families(seed, 3, longest=100) for seed in (4, 5)]
    alone = [compute(machine, slot, examples) for slot, examples in zip(slots, groups, strict=True)]
    parts = [
        Part(slot, examples, SFT, sum(example.num_trained for example in examples), 0.0)
        for slot, examples in zip(slots, groups, strict=True)
    ]
    (results,) = machine.backward([parts], lambda: None)
    for slot, result, wanted in zip(slots, results, alone, strict=True):
        require_same(machine, (result.loss, take_gradients(machine, slot)), wanted)


def test_a_state_that_is_read_and_filled_into_another_slot_goes_on_as_it_would_have(machine):
    examples = make_families(6, 4)
    first = open_random(machine, SHAPE)
    take_step(machine, first, examples)
    saved = machine.read(first)
    second = machine.open(SHAPE, saved)
    parameters = machine.find(second).parameters.values()
    assert {(parameter.dtype, parameter.device.type) for parameter in parameters} == {(torch.float32, "cuda")}
    assert second != first
    losses = [[take_step(machine, slot, examples) for _ in range(3)] for slot in (first, second)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSS_DIFFERENCE[machine.base.model.dtype])
    machine.close(second)
    assert machine.open(SHAPE, None) == second


def take_step(machine, slot, examples):
    loss = backward(machine, slot, examples).loss
    machine.take_step(slot, SFT_RECIPE, 1e-3)
    return loss


def measure_peak(machine, slot, examples):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    compute(machine, slot, examples)
    return torch.cuda.max_memory_reserved()


@pytest.fixture
def bounded():
    """Bounds the memory that torch may take, in bytes."""
    total = torch.cuda.get_device_properties(DEVICE).total_memory
    yield lambda limit: torch.cuda.set_per_process_memory_fraction(limit / total)
    torch.cuda.set_per_process_memory_fraction(1.0)


def train(machine, examples, budget):
    step = Step(examples, SFT, 1e-3, sum(example.num_trained for example in examples))
    with Turns(machine, Policy(budget)) as turns:
        slot = turns.call(lambda: open_random(machine, SHAPE))
        work = Work(slot, SFT_RECIPE, [step], "acme", lambda: None, save_seconds=1e9)
        turns.submit(work)
        return [report.numbers["loss"] for report in work.read_reports() if isinstance(report, StepTaken)]


def test_a_step_that_does_not_fit_into_the_memory_is_taken_in_halves(bounded, capfd):
    machine = Machine(load_prepared("Qwen3", torch.bfloat16, **HEADS, intermediate_size=8192))
    machine.base.model.gradient_checkpointing_disable()  # so that memory goes with the tokens of a pass
    examples = [example for seed in range(40) for example in make_families(seed, 8, longest=200)]
    examples = [replace(example, family=place) for place, example in enumerate(examples)]
    tokens = sum(example.num_tokens for example in examples)
    wanted = train(machine, examples, tokens)
    slot = open_random(machine, SHAPE)
    whole, half = (measure_peak(machine, slot, examples[: len(examples) // share]) for share in (1, 2))
    assert half < 0.8 * whole
    capfd.readouterr()
    torch.cuda.empty_cache()
    bounded((whole + half) / 2)
    assert train(machine, examples, tokens) == pytest.approx(wanted, rel=2e-2)
    assert "out of memory, trying again with smaller batches" in capfd.readouterr().out


def test_a_step_that_does_not_fit_in_halves_either_fails_the_job_with_its_reason(bounded):
    machine = Machine(load_prepared("Qwen3", torch.bfloat16, **HEADS, intermediate_size=8192))
    examples = make_families(0, 200, longest=200)
    torch.cuda.empty_cache()
    slot = open_random(machine, SHAPE)
    machine.close(slot)
    bounded(torch.cuda.memory_reserved() + (8 << 20))
    with pytest.raises(torch.OutOfMemoryError) as caught:
        train(machine, examples, 1 << 20)
    failure = explain_failure(caught.value)
    assert (failure.category, failure.reason, failure.retryable) == ("Capacity", "CudaOutOfMemory", True)

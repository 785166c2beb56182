"""Jobs that share a base model do not change each other's results, bit for bit, on dense models and with experts."""

import pytest
import torch

from testing.tiny_models import (
    LLAMA_TARGETS,
    SFT,
    backward,
    make_base,
    make_families,
    open_random,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model import slots as slots_module
from trainyard_trainer.compute.model.routing import RoutedLinear
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.model.targets import choose_targets
from trainyard_trainer.compute.rows.step import Microbatch
from trainyard_trainer.failures import JobFailure
from trainyard_trainer.sft.recipe import SFT as SFT_RECIPE

ATTENTION = ("k_proj", "o_proj", "q_proj", "v_proj")
MODELS = {
    "Llama": tuple(sorted(LLAMA_TARGETS)),
    "Qwen3-MoE": ATTENTION,
    "Qwen3-MoE with dense layers": ATTENTION,
    "Mixtral": ATTENTION,
}


def never() -> None:
    pass


def open_default(executor: Executor, seed: int, rank: int = 4) -> str:
    return open_random(executor, Shape(rank, 8, choose_targets(executor.base.model, None)), seed)


def train(executor: Executor, slot: str, seed: int) -> list:
    """Two steps, and all their visible results."""
    seen = []
    for step in range(2):
        seen.append(backward(executor, slot, make_families(seed + step, 2)).loss)
        seen += [parameter.grad.clone() for parameter in executor.find(slot).parameters.values()]
        seen.append(executor.step_optimizer(slot, SFT_RECIPE, 1e-2))
        executor.clear(slot)
    seen += executor.read(slot).weights.values()
    return seen + score(executor, slot)


def score(executor: Executor, slot: str | None) -> list:
    return [torch.from_numpy(column) for column in executor.score(slot, [make_families(9, 3)], never)]


def read_base(executor: Executor) -> list:
    return [weight for name, weight in sorted(executor.base.model.state_dict().items()) if "lora_" not in name]


def are_equal(one: list, other: list) -> bool:
    """Compares bit for bit."""
    tensors = [torch.as_tensor(each) for each in one], [torch.as_tensor(each) for each in other]
    return all(torch.equal(left, right) for left, right in zip(*tensors, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_a_job_is_the_same_beside_another_as_it_is_alone(name):
    alone, shared = Executor(make_base(name)), Executor(make_base(name))
    base_alone = score(alone, None)
    other = open_default(shared, 1, rank=2)
    train(shared, other, 20)
    machines = {executor: open_default(executor, 2) for executor in (alone, shared)}
    seen = {executor: train(executor, slot, 30) for executor, slot in machines.items()}
    assert are_equal(seen[shared], seen[alone])
    assert all(parameter.grad is None for parameter in shared.find(other).parameters.values())
    again = train(shared, other, 40)
    assert any(value.abs().sum() > 0 for value in again if isinstance(value, torch.Tensor))
    assert are_equal(score(shared, machines[shared]), score(alone, machines[alone]))
    assert are_equal(score(shared, None), base_alone)
    assert are_equal(read_base(shared), read_base(Executor(make_base(name))))


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_a_job_are_on_its_own_adapter_only(name):
    executor = Executor(make_base(name))
    slots = [open_default(executor, 1, rank=2), open_default(executor, 2)]
    for slot in slots:
        backward(executor, slot, make_families(5, 2))
        assert all(parameter.grad is not None for parameter in executor.find(slot).parameters.values())
        trained = {id(parameter) for parameter in executor.find(slot).parameters.values()}
        strangers = [each for each in executor.base.model.parameters() if id(each) not in trained]
        assert all(parameter.grad is None for parameter in strangers)
        executor.clear(slot)


@pytest.mark.parametrize("name", MODELS)
def test_adapters_in_one_pass_have_the_same_results_as_alone(name):
    executor = Executor(make_base(name))
    slots = [open_default(executor, 1, rank=2), open_default(executor, 2)]
    microbatches = [Microbatch(slot, make_families(seed, 2), SFT, 10.0, 0.0) for seed, slot in enumerate(slots)]
    alone = [executor.backward([[microbatch]], never)[0][0].loss for microbatch in microbatches]
    (together,) = executor.backward([microbatches], never)
    assert [result.loss for result in together] == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_default_layers_are_those_with_a_route(name):
    executor = Executor(make_base(name))
    slot = open_default(executor, 1)
    assert executor.find(slot).shape.target_modules == MODELS[name]
    names = {
        name.split(".")[-1] for name, layer in executor.base.model.named_modules() if isinstance(layer, RoutedLinear)
    }
    assert names == {*MODELS[name]}


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("Qwen3-MoE", "gate_proj", "experts"),
        ("Qwen3-MoE with dense layers", "down_proj", "experts"),
        ("Mixtral", "w1", "experts"),
        ("Mixtral", "gate", "experts"),
        ("Llama", "q_prj", "not a layer"),
        ("Llama", "embed_tokens", "no linear layer"),
    ],
)
def test_named_layers_without_a_route_are_rejected_with_a_message(name, target, reason):
    executor = Executor(make_base(name))
    before = score(executor, None)
    with pytest.raises(JobFailure, match=rf"lora\.targetModules name {target}, .*{reason}") as caught:
        choose_targets(executor.base.model, ["q_proj", target])
    assert (caught.value.reason, caught.value.retryable) == ("UnsupportedTargetModules", False)
    if reason == "experts":
        with pytest.raises(JobFailure, match=target):
            executor.open(Shape(2, 4, ("q_proj", target)), None)
    assert are_equal(score(executor, None), before)


@pytest.mark.parametrize("others", [0, 1])
def test_an_adapter_without_routes_is_removed_again(monkeypatch, others):
    """For all layer names that a PEFT version may use."""
    executor = Executor(make_base("Qwen3-MoE"))
    slots = [open_default(executor, seed) for seed in range(others)]
    before = [score(executor, slot) for slot in (None, *slots)]
    monkeypatch.setattr(slots_module, "require_routable", lambda *_: None)
    with pytest.raises(JobFailure, match="cannot be kept apart"):
        executor.open(Shape(2, 4, LLAMA_TARGETS), None)
    assert all(are_equal(score(executor, slot), seen) for slot, seen in zip((None, *slots), before, strict=True))

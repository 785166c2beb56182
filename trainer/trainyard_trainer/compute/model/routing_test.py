"""Rows of several models in one pass give the results of separate passes."""

from collections.abc import Callable

import pytest
import torch

from testing.tiny_models import (
    LLAMA_TARGETS,
    SFT,
    differ,
    make_base,
    make_families,
    open_random,
    pop_gradients,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model import routing
from trainyard_trainer.compute.model.routing import Route, RoutedLinear
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.step import Microbatch
from trainyard_trainer.failures import Fenced

SHAPES = {
    "small": Shape(2, 4, ("q_proj", "v_proj")),
    "large": Shape(8, 32, LLAMA_TARGETS),
    "scaled": Shape(4, 16, ("down_proj", "o_proj"), use_rslora=True),
    "small too": Shape(2, 4, ("q_proj", "v_proj")),
    "with the head": Shape(3, 6, ("lm_head", "k_proj")),
}


@pytest.fixture(scope="module")
def executor() -> Executor:
    return Executor(make_base("Qwen2"))


@pytest.fixture(scope="module")
def slots(executor: Executor) -> dict[str, str]:
    return {name: open_random(executor, shape, seed) for seed, (name, shape) in enumerate(SHAPES.items())}


def make_microbatch(slot: str, seed: int) -> Microbatch:
    examples = make_families(seed, 2)
    return Microbatch(slot, examples, SFT, sum(example.num_trained for example in examples), 0.0)


def never() -> None:
    pass


@pytest.mark.parametrize(
    "names",
    [("small", "large"), ("large", "scaled", "small", "small too"), ("scaled", "small")],
    ids=" and ".join,
)
def test_models_of_any_shape_train_in_one_pass_with_the_same_results_as_alone(executor, slots, names):
    microbatches = [make_microbatch(slots[name], seed) for seed, name in enumerate(names)]
    alone = []
    for microbatch in microbatches:
        ((result,),) = executor.backward([[microbatch]], never)
        alone.append((result.loss, pop_gradients(executor, microbatch.slot)))
    (together,) = executor.backward([microbatches], never)
    for microbatch, result, (loss, gradients) in zip(microbatches, together, alone, strict=True):
        assert result.loss == pytest.approx(loss, rel=1e-4)
        assert differ(pop_gradients(executor, microbatch.slot), gradients) < 1e-4


def test_adapters_on_the_head_have_their_own_pass(executor, slots):
    """The head only sees the positions that predict something. Jobs whose pass fails continue alone."""
    microbatches = [make_microbatch(slots["with the head"], 1), make_microbatch(slots["small"], 2)]
    executor.backward([microbatches[:1]], never)
    executor.clear(microbatches[0].slot)
    with pytest.raises(ValueError, match="cannot share"):
        executor.backward([microbatches], never)


def test_gradients_of_several_passes_add_up_in_their_slots(executor, slots):
    microbatches = [
        make_microbatch(slots["large"], 1),
        make_microbatch(slots["small"], 2),
        make_microbatch(slots["large"], 3),
    ]
    wanted = {}
    for microbatch in microbatches:
        executor.backward([[microbatch]], never)
        for name, gradient in pop_gradients(executor, microbatch.slot).items():
            key = (microbatch.slot, name)
            wanted[key] = wanted.get(key, 0) + gradient
    executor.backward([[microbatches[0], microbatches[1]], [microbatches[2]]], never)
    for slot in (slots["large"], slots["small"]):
        found = pop_gradients(executor, slot)
        assert differ(found, {name: wanted[slot, name] for name in found}) < 1e-4


def test_families_of_different_models_share_no_prefix(executor, slots):
    """The same examples, of the same family, under two adapters: their shared prefix is computed under both."""
    microbatches = [make_microbatch(slots["large"], 5), make_microbatch(slots["small"], 5)]
    (together,) = executor.backward([microbatches], never)
    for microbatch, result in zip(microbatches, together, strict=True):
        executor.clear(microbatch.slot)
        ((alone,),) = executor.backward([[microbatch]], never)
        executor.clear(microbatch.slot)
        assert result.loss == pytest.approx(alone.loss, rel=1e-4)


def test_no_adapter_is_the_base_itself(executor, slots):
    examples = make_families(6, 2)
    untouched = Executor(make_base("Qwen2"))
    wanted = untouched.score(None, [examples], never)
    found = executor.score(None, [examples], never)
    assert [column.tolist() for column in found] == [column.tolist() for column in wanted]
    adapted = executor.score(slots["large"], [examples], never)
    assert adapted[0].tolist() != pytest.approx(wanted[0].tolist(), abs=1e-3)
    tokens = torch.from_numpy(examples[0].ids)[None]
    with torch.no_grad():
        torch.testing.assert_close(executor.base.model(tokens).logits, untouched.base.model(tokens).logits)


def test_a_microbatch_of_the_base_model_shares_a_pass_with_one_of_an_adapter(executor, slots):
    layer = executor.base.decoder.layers[0].self_attn.q_proj
    hidden = torch.randn(1, 20, 32)
    with torch.no_grad(), routing.CURRENT.use((Route(None, 12), Route(slots["large"], 8)), never):
        mixed = layer(hidden)
    with torch.no_grad(), routing.CURRENT.use((Route(slots["large"], 0),), never):
        adapted = layer(hidden)
    with torch.no_grad():
        plain = layer(hidden)
    torch.testing.assert_close(mixed, torch.cat([plain[:, :12], adapted[:, 12:]], dim=1))
    assert not torch.allclose(plain, adapted)


def test_an_adapter_adds_the_same_as_in_peft_and_has_the_same_gradients(executor, slots):
    layer = executor.base.decoder.layers[1].mlp.down_proj
    hidden = torch.randn(1, 5, 48, requires_grad=True)
    name = slots["scaled"]
    with routing.CURRENT.use((Route(name, 0),), never):
        found = layer(hidden)
    down, up = layer.lora_A[name].weight, layer.lora_B[name].weight
    wanted = layer.base_layer(hidden) + (hidden @ down.T @ up.T) * (16 / 4**0.5)
    torch.testing.assert_close(found, wanted)
    push = torch.randn_like(wanted)
    gradients = [torch.autograd.grad(result, (hidden, down, up), push) for result in (found, wanted)]
    torch.testing.assert_close(*gradients)


@pytest.fixture
def counter() -> Callable[[], None]:
    class Counter:
        calls = 0
        limit = None

        def __call__(self) -> None:
            self.calls += 1
            if self.calls == self.limit:
                raise Fenced("cancelled")

    return Counter()


@pytest.mark.parametrize("checkpointing", [False, True])
def test_a_lost_job_is_dropped_at_any_layer(executor, slots, counter, checkpointing):
    microbatch = make_microbatch(slots["large"], 3)
    layers = sum(isinstance(module, RoutedLinear) for module in executor.base.model.modules())
    executor.score(microbatch.slot, [microbatch.examples], counter)
    assert counter.calls == layers
    counter.calls = 0
    if checkpointing:
        executor.base.model.gradient_checkpointing_enable({"use_reentrant": False})
    try:
        executor.backward([[microbatch]], counter)
        every, forward = counter.calls, layers
        assert every >= 2 * layers - 3  # all but the first layers, which have no weights before them
        wanted = pop_gradients(executor, microbatch.slot)
        for limit in (1, forward, forward + 1, (every + forward) // 2, every):
            counter.calls, counter.limit = 0, limit
            with pytest.raises(Fenced):
                executor.backward([[microbatch]], counter)
            executor.clear(microbatch.slot)
        counter.limit = None
        executor.backward([[microbatch]], counter)
        assert differ(pop_gradients(executor, microbatch.slot), wanted) == 0  # nothing is left of dropped passes
    finally:
        executor.base.model.gradient_checkpointing_disable()
    counter.calls = 0
    executor.backward([[microbatch]], never)
    executor.clear(microbatch.slot)
    assert counter.calls == 0

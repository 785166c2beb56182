import copy
import json
from dataclasses import replace

import pytest
import torch

from testing.tiny_models import (
    CONFIGS,
    backward,
    differ,
    list_linear,
    make_base,
    make_families,
    open_random,
    pop_gradients,
)
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.failures import JobFailure

PACKED = {
    "Llama",
    "Qwen2",
    "Qwen3",
    "Mistral with a window",
    "Phi3 with a window",
    "Gemma3 with windows",
    "Qwen3-MoE",
    "Qwen3-MoE with dense layers",
    "Mixtral",
    "GPT-NeoX",
    "OPT",
    "GPT2",
}


def score_alone(model: torch.nn.Module, examples: list[Example]) -> list[float]:
    """The log-probabilities of trained tokens from transformers alone, one example after the other."""
    found = []
    for example in examples:
        with torch.no_grad():
            logits = model(torch.from_numpy(example.ids)[None]).logits[0]
        indices = example.trained.nonzero()[0]
        found += [logits[index - 1].log_softmax(-1)[example.ids[index]].item() for index in indices]
    return found


@pytest.mark.parametrize("name", CONFIGS)
def test_models_use_rows_if_the_results_are_equal_and_padding_otherwise(name, capfd):
    base = make_base(name)
    assert base.packs == (name in PACKED)
    warnings = [json.loads(line)["message"] for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [text.split(":")[0] for text in warnings] == ([] if base.packs else ["rows are padded"])
    examples = make_families(1, 3)
    scores = Executor(base).score(None, [examples], lambda: None)
    plain = copy.deepcopy(base.model).eval()
    plain.set_attn_implementation("eager")
    found = [value for column in scores for value in column.tolist()]
    assert found == pytest.approx(score_alone(plain, examples), abs=2e-4)


@pytest.mark.parametrize("name", sorted(PACKED - {"GPT2"}))
def test_rows_give_the_gradients_of_padded_batches(name):
    base = make_base(name)
    examples = make_families(2, 3)
    executor = Executor(base)
    slot = open_random(executor, Shape(4, 8, list_linear(base)))
    packed = backward(executor, slot, examples)
    gradients = pop_gradients(executor, slot)
    executor.base = replace(base, packs=False)
    padded = backward(executor, slot, examples)
    assert packed.loss == pytest.approx(padded.loss, rel=1e-5)
    assert differ(gradients, pop_gradients(executor, slot)) < 1e-4


@pytest.mark.parametrize(
    "targets",
    [
        pytest.param(("c_attn",), id="layers that are not linear ones"),
        pytest.param(("q_proj", "v_proj"), id="layers that the model does not have"),
    ],
)
def test_an_adapter_that_the_model_cannot_have_is_rejected_and_leaves_nothing(targets):
    base = make_base("GPT2")
    executor = Executor(base)
    examples = make_families(1, 2)
    before = executor.score(None, [examples], lambda: None)
    for _ in range(2):
        with pytest.raises(JobFailure, match=r"lora\.targetModules") as caught:
            executor.open(Shape(4, 8, targets), None)
        assert (caught.value.reason, caught.value.retryable) == ("UnsupportedTargetModules", False)
    after = executor.score(None, [examples], lambda: None)
    assert [column.tolist() for column in after] == [column.tolist() for column in before]
    with pytest.raises(JobFailure):
        executor.open(Shape(4, 8, ("c_attn",)), None)
    slot = executor.open(Shape(4, 8, ("lm_head",)), None)
    assert backward(executor, slot, examples).loss > 0

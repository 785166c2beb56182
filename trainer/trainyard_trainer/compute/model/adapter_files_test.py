import json
from dataclasses import replace

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file

from testing.tiny_models import LLAMA_TARGETS, backward, make_base, make_families, open_random
from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, OPTIMIZER_STATE
from trainyard_base_model.names import AdapterNames
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.adapter_files import read_adapter, read_shape, save_adapter, save_optimizer
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.failures import JobFailure
from trainyard_trainer.sft.recipe import SFT

SHAPE = Shape(4, 16, LLAMA_TARGETS)


@pytest.fixture(scope="module")
def executor() -> Executor:
    return Executor(make_base())


@pytest.fixture
def trained(executor, tmp_path):
    """A slot after one step, and the folder that it was saved to."""
    slot = open_random(executor, SHAPE)
    backward(executor, slot, make_families(1, 2))
    executor.step_optimizer(slot, SFT, 1e-2)
    state = executor.read(slot)
    save_adapter(state, SHAPE, "trainyard/tiny", tmp_path)
    save_optimizer(state, SFT.method, tmp_path)
    yield slot, tmp_path
    executor.close(slot)


def test_saved_weights_are_read_again_bit_by_bit(executor, trained):
    slot, folder = trained
    state = executor.read(slot)
    assert read_shape(folder) == Shape(4, 16, tuple(sorted(LLAMA_TARGETS)))
    for one, other in (
        (read_adapter(folder, "SFT").weights, state.weights),
        (read_adapter(folder, "SFT").optimizer, state.optimizer),
    ):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_peft_loads_it_and_computes_the_same_as_the_trainer(executor, trained):
    slot, folder = trained
    examples = make_families(2, 2)
    found = executor.score(slot, [examples], lambda: None)
    model = PeftModel.from_pretrained(make_base().model, str(folder)).eval()
    for example, column in zip(examples, found, strict=True):
        with torch.no_grad():
            logprobs = model(torch.from_numpy(example.ids)[None]).logits[0].log_softmax(-1)
        indices = example.trained.nonzero()[0]
        wanted = [logprobs[index - 1, example.ids[index]].item() for index in indices]
        assert column.tolist() == pytest.approx(wanted, abs=1e-4)


def test_a_slot_keeps_nothing_of_the_previous_adapter(executor, trained):
    slot, _ = trained
    fresh = Executor(make_base())
    executor.refill(slot, None)
    untrained = executor.read(slot)
    assert untrained.optimizer == {}
    other = fresh.read(fresh.open(SHAPE, None)).weights
    assert all(torch.equal(untrained.weights[name], other[name]) for name in other)
    assert not any(tensor.any() for name, tensor in untrained.weights.items() if "lora_B" in name)


def test_a_released_slot_is_used_again_only_by_adapters_of_its_shape(executor):
    one = executor.open(SHAPE, None)
    two = executor.open(SHAPE, None)
    assert one != two
    executor.close(one)
    other = executor.open(Shape(5, 16, LLAMA_TARGETS), None)
    assert other not in (one, two)
    assert executor.open(SHAPE, None) == one
    for slot in (one, two, other):
        executor.close(slot)


def test_files_have_the_names_of_the_repository(tmp_path):
    executor = Executor(replace(make_base(), adapter_names=AdapterNames("model", "model.language_model")))
    slot = open_random(executor, SHAPE)
    state = executor.read(slot)
    save_adapter(state, SHAPE, "trainyard/tiny", tmp_path)
    names = load_file(tmp_path / ADAPTER_WEIGHTS).keys()
    assert all(name.startswith("base_model.model.model.language_model.layers.") for name in names)
    executor.refill(slot, read_adapter(tmp_path, "RL"))
    assert all(torch.equal(tensor, state.weights[name]) for name, tensor in executor.read(slot).weights.items())


def test_layers_outside_of_the_text_decoder_have_no_adapter():
    base = make_base()
    base.model.tower = torch.nn.ModuleDict({"q_proj": torch.nn.Linear(4, 4)})
    executor = Executor(base)
    slot = open_random(executor, SHAPE)
    state = executor.read(slot)
    assert not any(".tower." in name for name in state.weights)


@pytest.mark.parametrize(
    "change",
    [
        {"use_dora": True},
        {"bias": "all"},
        {"rank_pattern": {"q_proj": 2}},
        {"alpha_pattern": {"q_proj": 2}},
        {"target_parameters": ["gate_up_proj"]},
        {"modules_to_save": ["lm_head"]},
        {"auto_mapping": {"base_model_class": "Strange", "parent_library": "strange"}},
        {"peft_type": "IA3"},
        {"target_modules": "all-linear"},
        {"lora_alpha": "16"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_adapters_of_other_kinds_are_not_trained(trained, change):
    _, folder = trained
    path = folder / ADAPTER_CONFIG
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(JobFailure, match="only plain LoRA") as caught:
        read_shape(folder)
    assert (caught.value.reason, caught.value.retryable) == ("CheckpointMismatch", False)


def test_an_adapter_that_was_trained_with_dropout_is_trained_without_it(trained):
    _, folder = trained
    path, plain = folder / ADAPTER_CONFIG, read_shape(folder)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"lora_dropout": 0.05}))
    assert read_shape(folder) == plain


@pytest.mark.parametrize("rank", [0, 513, 10**9, "4", True, None])
def test_an_unexpected_rank_is_rejected_before_a_slot_is_created(trained, rank):
    _, folder = trained
    path = folder / ADAPTER_CONFIG
    path.write_text(json.dumps(json.loads(path.read_text()) | {"r": rank}))
    with pytest.raises(JobFailure, match=f"rank {rank}; the supported ranks are 1 to 512") as caught:
        read_shape(folder)
    assert caught.value.reason == "CheckpointMismatch"


def test_the_base_model_in_a_checkpoint_is_ignored(trained):
    _, folder = trained
    path = folder / ADAPTER_CONFIG
    named = {"base_model_name_or_path": "/etc/passwd", "revision": "evil", "runtime_config": {"x": 1}}
    path.write_text(json.dumps(json.loads(path.read_text()) | named))
    assert read_shape(folder) == Shape(4, 16, tuple(sorted(LLAMA_TARGETS)))


def test_weights_of_another_shape_are_rejected(executor, trained):
    slot, folder = trained
    weights = load_file(folder / ADAPTER_WEIGHTS)
    name = next(iter(weights))
    save_file(weights | {name: torch.zeros(1, 1)}, folder / ADAPTER_WEIGHTS)
    with pytest.raises(JobFailure, match="weights of the checkpoint"):
        executor.open(read_shape(folder), read_adapter(folder, "SFT"))
    assert [each.name for each in executor.slots.all if not each.free] == [slot]


def test_an_optimizer_state_of_another_shape_is_rejected(executor, trained):
    slot, folder = trained
    state = load_file(folder / OPTIMIZER_STATE)
    name = next(name for name, tensor in state.items() if tensor.dim())
    save_file(state | {name: torch.zeros(1, 1)}, folder / OPTIMIZER_STATE, {"method": "SFT"})
    with pytest.raises(JobFailure, match="weights of the checkpoint"):
        executor.refill(slot, read_adapter(folder, "SFT"))


def test_weights_of_another_model_are_rejected_and_their_slot_is_released(executor, trained):
    slot, folder = trained
    weights = load_file(folder / ADAPTER_WEIGHTS)
    weights.pop(next(iter(weights)))
    save_file(weights, folder / ADAPTER_WEIGHTS)
    with pytest.raises(JobFailure, match="weights of the checkpoint"):
        executor.open(read_shape(folder), read_adapter(folder, "SFT"))
    assert [each.name for each in executor.slots.all if not each.free] == [slot]

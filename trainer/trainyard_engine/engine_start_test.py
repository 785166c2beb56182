"""Started engines: what they serve, and why they end. A start takes twenty seconds, so most are nightly."""

import shutil
from pathlib import Path
from uuid import uuid4

import pytest
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig

from testing.own_code import add_own_code
from testing.seeds import IS_NIGHTLY
from testing.tiny_models import CONFIGS
from trainyard_artifacts.checkpoints import locate_checkpoint, write_checkpoint
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import open_store
from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.outline import build_outline
from trainyard_engine.access import KEPT_PATH
from trainyard_engine.random_adapter import write_random_adapter

TRAINER = Path(__file__).parents[1]
MODEL = TRAINER / "models" / "tiny-chat"
# vLLM's attention on CPUs has no smaller heads.
SIZES = {"hidden_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
deep = pytest.mark.skipif(not IS_NIGHTLY, reason="nightly")


@pytest.fixture
def fork_engine(fork_server, tmp_path):
    """Runs an engine that ends before it imports vLLM, and returns its last line."""

    def fork(model: str, main: str = "trainyard_engine.__main__:main", **env: str) -> str:
        settings = {
            "TRAINYARD_MODEL": model,
            "TRAINYARD_MODEL_NAMES": "tiny",
            "TRAINYARD_ARTIFACTS": str(tmp_path),
            "VLLM_API_KEY": "key",
        }
        engine = fork_server.start(settings | env, tmp_path / "fork.log", main)
        assert engine.wait() == 1
        return engine.log.read_text().splitlines()[-1]

    return fork


def save_random(config: PreTrainedConfig, folder: Path) -> Path:
    """A model of this architecture with the tiny chat model's tokenizer."""
    shutil.copytree(MODEL, folder)
    vocabulary = AutoConfig.from_pretrained(MODEL).vocab_size
    config = config.__class__.from_dict(config.to_dict() | SIZES | {"vocab_size": vocabulary})
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


@deep
def test_an_engine_serves_the_pinned_commit_with_its_code(hub, start_engine, tmp_path):
    folder = shutil.copytree(MODEL, tmp_path / "first")
    add_own_code(folder, tmp_path / "marker")
    first = hub.push(folder)
    broken = shutil.copytree(folder, tmp_path / "second")
    for name in ("strange.py", "model.safetensors", "tokenizer.json", "config.json"):
        (broken / name).write_text("broken")
    hub.push(broken)
    engine = start_engine("org/strange", "--trust-remote-code", HF_ENDPOINT=hub.address, TRAINYARD_MODEL_REVISION=first)
    engine.wait_until_ready()
    assert (tmp_path / "marker").exists()


def test_an_engine_whose_pod_asks_for_gpus_does_not_compute_on_the_processor(fork_engine):
    last = fork_engine(str(MODEL), TRAINYARD_GPUS="1", CUDA_VISIBLE_DEVICES="")
    assert last.startswith("trainyard_engine: NoGpuVisible: The pod asks for GPUs (1)")


def test_an_engine_of_a_gated_model_says_so(hub, fork_engine, tmp_path):
    commit = hub.push(MODEL)
    hub.gated = True
    hub_env = {"HF_ENDPOINT": hub.address, "HF_HUB_CACHE": str(tmp_path / "hub"), "TRAINYARD_MODEL_REVISION": commit}
    last = fork_engine("org/gated", "testing.model_hub:run_engine", **hub_env)
    assert last.startswith("trainyard_engine: GatedModel: The model org/gated does not allow access")


@deep
@pytest.mark.parametrize("name", ["Qwen3", "Phi3 with a window", "Gemma3 with windows"])
def test_engines_of_other_architectures_become_ready(start_engine, tmp_path, name):
    start_engine(str(save_random(CONFIGS[name], tmp_path / "model"))).wait_until_ready()


@deep
def test_a_kept_adapter_stays_in_memory_while_others_are_loaded(start_engine, tmp_path):
    outline = build_outline(str(MODEL), trust_remote_code=False)
    store = open_store(StoreSettings(str(tmp_path)))
    kept, *others = (str(uuid4()) for _ in range(6))
    for name in (kept, *others):
        write_checkpoint(
            store, locate_checkpoint(name), lambda folder: write_random_adapter(outline, LoraSettings(8, 8), folder)
        )
    engine = start_engine(str(MODEL), TRAINYARD_MAX_LORAS="1", TRAINYARD_MAX_CPU_LORAS="3")
    engine.wait_until_ready()

    def ask(name: str) -> None:
        engine.send("POST", "/v1/completions", {"model": name, "prompt": "a", "max_tokens": 1})

    ask(kept)
    engine.send("PUT", KEPT_PATH, {"names": [kept]})
    for name in others:
        ask(name)
    # Whoever needs its files has lost it.
    shutil.rmtree(tmp_path / "checkpoints" / kept)
    ask(kept)


@deep
def test_an_engine_that_ignores_layers_of_adapters_ends_with_their_names(start_engine):
    last = start_engine(str(MODEL), "--lora-target-modules", "o_proj").wait_for_end()
    assert last.startswith("trainyard_engine: AdapterNotApplied: vLLM applies ")
    assert "model.layers.0.mlp.down_proj" in last

"""Whether vLLM applies every layer of an adapter that a trainer writes, on its models of many architectures."""

import pytest
import torch
from transformers import (
    DeepseekV3Config,
    Gemma3Config,
    Gemma3TextConfig,
    GptOssConfig,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    Phi3Config,
    PreTrainedConfig,
    Qwen3_5Config,
    Qwen3Config,
    Qwen3MoeConfig,
)
from vllm.config import set_current_vllm_config
from vllm.distributed import (
    destroy_distributed_environment,
    destroy_model_parallel,
    init_distributed_environment,
    initialize_model_parallel,
)
from vllm.engine.arg_utils import EngineArgs
from vllm.lora.request import LoRARequest
from vllm.lora.worker_manager import LRUCacheWorkerLoRAManager
from vllm.model_executor.model_loader.utils import initialize_model

from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.names import AdapterNames
from trainyard_base_model.outline import Outline, build_outline
from trainyard_base_model.targets import choose_targets, measure_coverage
from trainyard_engine.applied_layers import AppliedLayers, find_applied_layers
from trainyard_engine.random_adapter import write_random_adapter

SHAPE = {
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
HEADS = SHAPE | {"head_dim": 16}
EXPERTS = {"num_experts_per_tok": 2, "num_local_experts": 4}
WINDOWS = {"sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"]}
IMAGES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
MIXERS = {
    "layer_types": ["linear_attention", "full_attention"],
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
}
LATENT = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 32,
    "q_lora_rank": 32,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "n_routed_experts": 8,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
}
CONFIGS: dict[str, PreTrainedConfig] = {
    "Qwen3MoeForCausalLM": Qwen3MoeConfig(**HEADS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32),
    "MixtralForCausalLM": MixtralConfig(**SHAPE, **EXPERTS),
    "GptOssForCausalLM": GptOssConfig(**HEADS, **EXPERTS, **WINDOWS),
    "DeepseekV3ForCausalLM": DeepseekV3Config(**SHAPE | LATENT),
    "Qwen3ForCausalLM": Qwen3Config(**HEADS),
    "LlamaForCausalLM": LlamaConfig(**SHAPE),
    "MistralForCausalLM": MistralConfig(**SHAPE),
    "Phi3ForCausalLM": Phi3Config(**SHAPE),
    "Gemma3ForCausalLM": Gemma3TextConfig(**HEADS, **WINDOWS),
    "Gemma3ForConditionalGeneration": Gemma3Config(
        text_config=HEADS | WINDOWS,
        vision_config=IMAGES | {"image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        image_token_index=120,
        boi_token_index=121,
        eoi_token_index=122,
    ),
    "Qwen3_5ForConditionalGeneration": Qwen3_5Config(
        text_config=HEADS | MIXERS,
        vision_config=IMAGES | {"depth": 1, "num_heads": 2, "out_hidden_size": 64, "num_position_embeddings": 16},
    ),
}
# Layers of the text decoder that get no adapter by default.
EXPERT_LAYERS = ("experts.down_proj", "experts.gate_up_proj")
LEFT_OUT = {
    "Qwen3MoeForCausalLM": (*EXPERT_LAYERS, "gate"),
    "MixtralForCausalLM": (*EXPERT_LAYERS, "gate"),
    "GptOssForCausalLM": (
        "experts.down_proj",
        "experts.down_proj_bias",
        "experts.gate_up_proj",
        "experts.gate_up_proj_bias",
        "router",
    ),
    "DeepseekV3ForCausalLM": ("down_proj", *EXPERT_LAYERS, "gate", "gate_proj", "kv_b_proj", "up_proj"),
}


@pytest.fixture(scope="module")
def parallel(tmp_path_factory):
    """vLLM's groups of processes, with this one only. Those of models with experts fit all models."""
    config = make_engine_config("Qwen3MoeForCausalLM", tmp_path_factory.mktemp("moe"))
    meeting = tmp_path_factory.mktemp("group") / "store"
    with set_current_vllm_config(config):
        init_distributed_environment(1, 0, f"file://{meeting}", 0, "gloo")
        initialize_model_parallel(1, 1)
    yield
    destroy_model_parallel()
    destroy_distributed_environment()


def make_engine_config(name, folder):
    config = CONFIGS[name]
    config.architectures = [name]
    config.save_pretrained(folder)
    targets = choose_targets(build_outline(str(folder), trust_remote_code=False).model, None)
    # On CPUs, vLLM has no adapters of experts, so that it must know that there are none.
    return EngineArgs(
        model=str(folder),
        skip_tokenizer_init=True,
        dtype="float32",
        max_model_len=64,
        enable_lora=True,
        max_loras=1,
        lora_target_modules=list(targets),
    ).create_engine_config()


@pytest.fixture
def apply_adapter(parallel, tmp_path):
    """Returns the names of an adapter's layers, and which of them vLLM applies."""

    def apply(name: str, names: AdapterNames | None = None) -> tuple[list[str], AppliedLayers, Outline]:
        model, adapter = tmp_path / "model", tmp_path / "adapter"
        model.mkdir()
        adapter.mkdir()
        config = make_engine_config(name, model)
        with set_current_vllm_config(config):
            with torch.device("meta"):
                layers = initialize_model(config)
            manager = LRUCacheWorkerLoRAManager(config, torch.device("cpu"), layers.embedding_modules)
            manager.create_lora_manager(layers, config)
            outline = build_outline(str(model), trust_remote_code=False)
            written = write_random_adapter(Outline(outline.model, names or outline.names), LoraSettings(4, 8), adapter)
            manager.add_adapter(LoRARequest("random", 7, str(adapter)))
            return written, find_applied_layers(manager._adapter_manager, 7), outline

    return apply


@pytest.mark.parametrize("name", CONFIGS)
def test_vllm_applies_every_layer_that_a_trainer_names(apply_adapter, name):
    written, found, outline = apply_adapter(name)
    assert (len(found.applied), found.ignored) == (len(written), frozenset())
    targets = choose_targets(outline.model, None)
    assert measure_coverage(outline.model, targets).left_out == LEFT_OUT.get(name, ())


def test_layers_that_vllm_ignores_are_found(apply_adapter):
    """The names of the text decoder alone, as trainers load it."""
    written, found, _ = apply_adapter("Qwen3_5ForConditionalGeneration", AdapterNames())
    assert found.applied == frozenset()
    assert len(found.ignored) >= len(written) / 2
    assert all(name.startswith("model.layers.") for name in found.ignored)

"""Tiny random models of many architectures, and random rows for them."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoXConfig,
    Llama4TextConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    MixtralConfig,
    OPTConfig,
    Phi3Config,
    PreTrainedConfig,
    Qwen2Config,
    Qwen2MoeConfig,
    Qwen3Config,
    Qwen3MoeConfig,
    Qwen3NextConfig,
    RecurrentGemmaConfig,
)

from trainyard_base_model.targets import explain_unroutable
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import forbid_dropout, prepare
from trainyard_trainer.compute.model.sharding import get_head
from trainyard_trainer.compute.model.slots import AdapterState, Shape
from trainyard_trainer.compute.rows.example import Example, make_example
from trainyard_trainer.compute.rows.step import Microbatch, MicrobatchResult, Objective
from trainyard_trainer.sft.objective import SftObjective

VOCABULARY = 97
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,  # large enough that every visible token changes the logits
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
HEADS = SHAPE | {"head_dim": 8}
CONFIGS: Mapping[str, PreTrainedConfig] = {
    "Llama": LlamaConfig(**SHAPE),
    "Qwen2": Qwen2Config(**SHAPE),
    "Qwen3": Qwen3Config(**HEADS),
    "Mistral with a window": MistralConfig(**SHAPE, sliding_window=7),
    "Phi3 with a window": Phi3Config(**SHAPE, sliding_window=7),
    "Gemma2 with soft caps": Gemma2Config(**HEADS, sliding_window=7, query_pre_attn_scalar=8),
    "Gemma3 with windows": Gemma3TextConfig(
        **HEADS, sliding_window=7, query_pre_attn_scalar=8, layer_types=["sliding_attention", "full_attention"]
    ),
    "GPT-NeoX": GPTNeoXConfig(**SHAPE),
    "OPT": OPTConfig(**SHAPE, ffn_dim=48, word_embed_proj_dim=32, dropout=0.1),
    "GPT2": GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=256, initializer_range=0.3),
    "Llama4 with chunks": Llama4TextConfig(
        **HEADS, attention_chunk_size=64, num_local_experts=1, intermediate_size_mlp=48, moe_layers=[]
    ),
    "Qwen2-MoE with a window in its masks": Qwen2MoeConfig(
        **SHAPE, mlp_only_layers=[0, 1], use_sliding_window=True, sliding_window=64, max_window_layers=0
    ),
    "Qwen3-MoE": Qwen3MoeConfig(**HEADS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24),
    "Qwen3-MoE with dense layers": Qwen3MoeConfig(
        **HEADS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, mlp_only_layers=[0]
    ),
    "Mixtral": MixtralConfig(**SHAPE, num_local_experts=4),
    "Mamba": MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4),
    "RecurrentGemma": RecurrentGemmaConfig(**HEADS, lru_width=32, attention_window_size=16),
    "Qwen3-Next": Qwen3NextConfig(
        **HEADS,
        layer_types=["linear_attention", "full_attention"],
        linear_num_value_heads=4,
        linear_num_key_heads=2,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        mlp_only_layers=[0, 1],
    ),
}

LLAMA_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
SFT = SftObjective(0, 0, 0)


def make_base(name: str = "Llama", dtype: torch.dtype = torch.float32, **changes: object) -> Base:
    """Prepares a model like the trainer. The weights are the same each time. `changes` override its configuration."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = CONFIGS[name].__class__.from_dict(CONFIGS[name].to_dict() | changes)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.requires_grad_(False)
    model.config.use_cache = False
    forbid_dropout(model.train())
    return prepare(Base(name, model, None, torch.device("cpu"), get_head(model).out_features))


def list_linear(base: Base) -> tuple[str, ...]:
    """The names of all linear layers in the decoder that can have adapters."""
    modules = base.decoder.named_modules()
    names = {name.split(".")[-1] for name, module in modules if isinstance(module, torch.nn.Linear)}
    return tuple(sorted(name for name in names if explain_unroutable(base.model, name) is None))


def open_random(executor: Executor, shape: Shape, seed: int = 0) -> str:
    """A slot with random weights in all parameters of its adapter."""
    name = executor.open(shape, None)
    random = torch.Generator().manual_seed(seed)
    weights = {
        key: torch.randn(parameter.shape, generator=random) * 0.2
        for key, parameter in executor.find(name).parameters.items()
    }
    executor.refill(name, AdapterState(weights, {}))
    return name


def make_families(seed: int, count: int, max_members: int = 4, max_length: int = 24) -> list[Example]:
    """Families of random sizes. Their members share random prefixes (some are empty). Random tokens are trained."""
    random = np.random.default_rng(seed)
    examples = []
    for family in range(count):
        start = random.integers(3, VOCABULARY, size=random.integers(0, max_length))
        for _ in range(random.integers(1, max_members + 1)):
            ids = np.concatenate([start, random.integers(3, VOCABULARY, size=random.integers(1, max_length))])
            trained = (np.arange(len(ids)) >= len(start)) & (random.random(len(ids)) < 0.7)
            trained[-1] = True
            examples.append(make_example(ids.tolist(), trained.tolist(), family))
    return [example for example in examples if example.num_trained]


def backward(executor: Executor, slot: str, examples: list[Example], objective: Objective = SFT) -> MicrobatchResult:
    divisor = sum(example.num_trained for example in examples)
    ((result,),) = executor.backward([[Microbatch(slot, examples, objective, divisor, 0.0)]], lambda: None)
    return result


def pop_gradients(executor: Executor, slot: str) -> dict[str, Tensor]:
    """Returns the gradients and clears them."""
    parameters = executor.find(slot).parameters
    gradients = {name: parameter.grad for name, parameter in parameters.items() if parameter.grad is not None}
    executor.clear(slot)
    return gradients


def differ(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """The relative difference of two gradients: the length of the difference over the length of the second."""
    assert one.keys() == other.keys()
    assert one
    apart = sum((one[name] - other[name]).double().square().sum().item() for name in one)
    return (apart / sum(each.double().square().sum().item() for each in other.values())) ** 0.5

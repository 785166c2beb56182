"""Sends one adapter request before the first client's, because the first one of a process compiles for up to half a
minute."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from vllm import SamplingParams
from vllm.engine.protocol import EngineClient
from vllm.inputs import TokensPrompt
from vllm.lora.request import LoRARequest

from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS

TARGET_MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
RANK = 8
# Far above vLLM's own numbers, which count up from 1.
ADAPTER_NUMBER = 1_000_000_000
# A single request and several at once use different code paths of the engine.
ROUNDS = (1, 8)


async def warm_up(engine: EngineClient, model: str) -> None:
    """Loads an adapter that changes nothing, samples with and without it, and unloads it."""
    with tempfile.TemporaryDirectory(prefix="trainyard-warm-up-") as folder:
        write_adapter(model, Path(folder))
        adapter = LoRARequest(lora_name="warm-up", lora_int_id=ADAPTER_NUMBER, lora_path=folder)
        await engine.add_lora(adapter)
        for requests in ROUNDS:
            await asyncio.gather(
                *(sample(engine, f"warm-up-{requests}-{number}", adapter) for number in range(requests))
            )
        await sample(engine, "warm-up-base", None)
        await engine.remove_lora(ADAPTER_NUMBER)  # pyright: ignore[reportAttributeAccessIssue]  # the one that serves can


async def sample(engine: EngineClient, request_id: str, adapter: LoRARequest | None) -> None:
    options = SamplingParams(max_tokens=4, logprobs=0, ignore_eos=True)
    prompt = TokensPrompt(prompt_token_ids=[1, 2, 3])
    async for _ in engine.generate(prompt, options, request_id, lora_request=adapter):
        pass


def write_adapter(model: str, folder: Path) -> None:
    """Writes a LoRA adapter of zeros in PEFT's layout. It only needs the shapes of the model."""
    tensors: dict[str, torch.Tensor] = {}
    modules: set[str] = set()
    for name, layer in list_targets(model):
        tensors[f"base_model.model.{name}.lora_A.weight"] = torch.zeros(RANK, layer.in_features)
        tensors[f"base_model.model.{name}.lora_B.weight"] = torch.zeros(layer.out_features, RANK)
        modules.add(name.rpartition(".")[2])
    save_file(tensors, folder / ADAPTER_WEIGHTS)
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": RANK, "target_modules": sorted(modules)}
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config))


def list_targets(model: str) -> Iterator[tuple[str, torch.nn.Linear]]:
    with torch.device("meta"):
        shape = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(model))
    for name, module in shape.named_modules():
        if isinstance(module, torch.nn.Linear) and name.rpartition(".")[2] in TARGET_MODULES:
            yield name, module

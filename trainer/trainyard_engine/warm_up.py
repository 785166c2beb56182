"""Sends requests before the first client's. They show that adapters apply, and the first one of a process compiles for
up to half a minute."""

import asyncio
import tempfile
from pathlib import Path

from vllm import SamplingParams
from vllm.engine.protocol import EngineClient
from vllm.inputs import TokensPrompt
from vllm.lora.request import LoRARequest

from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.outline import build_outline
from trainyard_base_model.start_failure import StartFailure
from trainyard_base_model.targets import UnusableTarget
from trainyard_engine.adapter_check import load_adapter, require_applied, require_changed
from trainyard_engine.random_adapter import write_random_adapter

# Far above vLLM's own numbers, which count up from 1.
ADAPTER_NUMBER = 1_000_000_000
# A single request and several at once use different code paths of the engine.
ROUNDS = (1, 8)


async def warm_up(engine: EngineClient, lora: LoraSettings) -> None:
    """Loads a random adapter as trainers write it, samples with and without it, and unloads it. Raises StartFailure if
    the adapter changes nothing."""
    with tempfile.TemporaryDirectory(prefix="trainyard-warm-up-") as folder:
        names = write_adapter(engine, lora, Path(folder))
        adapter = LoRARequest(lora_name="warm-up", lora_int_id=ADAPTER_NUMBER, lora_path=folder)
        await load_adapter(engine, adapter)
        await require_applied(engine, adapter, names)
        await require_changed(engine, adapter)
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


def write_adapter(engine: EngineClient, lora: LoraSettings, folder: Path) -> list[str]:
    """Takes the files and the trust that the engine itself has used."""
    config = engine.model_config
    try:
        outline = build_outline(config.model, trust_remote_code=config.trust_remote_code)
        return write_random_adapter(outline, lora, folder)
    except UnusableTarget as cause:
        raise StartFailure("UnsupportedTargetModules", f"lora.targetModules of the BaseModel name {cause}.") from cause

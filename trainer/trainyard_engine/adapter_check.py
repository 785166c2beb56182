"""Checks at the start of an engine that adapters change what it computes.

If vLLM does not know the names of an adapter's layers, it serves the base model under the adapter's name.
"""

import statistics
from collections.abc import Sequence

from vllm import SamplingParams
from vllm.engine.protocol import EngineClient
from vllm.inputs import TokensPrompt
from vllm.lora.request import LoRARequest

from trainyard_base_model.start_failure import StartFailure
from trainyard_engine.applied_layers import AppliedLayers, merge_workers

NUM_LOGPROBS = 32
# Rounding changes log-probabilities by up to 0.05 in bfloat16, the random adapter by far more.
MIN_CHANGE = 0.1
MAX_NAMES = 8


async def load_adapter(engine: EngineClient, adapter: LoRARequest) -> None:
    try:
        await engine.add_lora(adapter)
    except Exception as cause:  # vLLM's workers pass errors on as they are
        raise make_failure(f"vLLM does not load an adapter of its layers: {cause}") from cause


async def require_applied(engine: EngineClient, adapter: LoRARequest, names: Sequence[str]) -> None:
    """`names` are the adapter's layers. Raises StartFailure."""
    answers = await engine.collective_rpc("list_applied_layers", args=(adapter.lora_int_id,))
    found = merge_workers([AppliedLayers(frozenset(applied), frozenset(ignored)) for applied, ignored in answers])
    if found.ignored or len(found.applied) != len(names):
        raise make_failure(
            f"vLLM applies {len(found.applied)} of the {len(names)} layers of an adapter of this base model, "
            f"and ignores {describe_names(found.ignored)}."
        )


def describe_names(names: frozenset[str]) -> str:
    shown = ", ".join(sorted(names)[:MAX_NAMES]) or "the others"
    return shown if len(names) <= MAX_NAMES else f"{shown} and {len(names) - MAX_NAMES} others"


async def require_changed(engine: EngineClient, adapter: LoRARequest) -> None:
    """Raises StartFailure if the adapter leaves the log-probabilities of a prompt as they are."""
    plain, adapted = [await score_prompt(engine, each) for each in (None, adapter)]
    change = statistics.median(abs(one - other) for one, other in zip(plain, adapted, strict=True))
    if not change >= MIN_CHANGE:  # even if it is not a number
        raise make_failure(
            f"With a random adapter, the {len(plain)} log-probabilities of a prompt change by {change:.3g} only (the "
            f"median; at least {MIN_CHANGE} is expected)."
        )


async def score_prompt(engine: EngineClient, adapter: LoRARequest | None) -> list[float]:
    """The log-probabilities of the tokens of a fixed prompt, without its first."""
    config = engine.model_config
    # Tokens from the whole vocabulary. Its ends often have special ones.
    length = min(NUM_LOGPROBS, config.max_model_len - 2)
    ids = [config.get_vocab_size() * (index + 1) // (length + 3) for index in range(length + 1)]
    options = SamplingParams(max_tokens=1, temperature=0, prompt_logprobs=0)
    request_id = f"adapter-check-{adapter.lora_name if adapter else 'base'}"
    found: list[float] = []
    async for output in engine.generate(TokensPrompt(prompt_token_ids=ids), options, request_id, lora_request=adapter):
        rows = (output.prompt_logprobs or [])[1:]
        found = [row[number].logprob for row, number in zip(rows, ids[1:], strict=True) if row is not None]
    return found


def make_failure(message: str) -> StartFailure:
    advice = "Training would not change its answers. Serve another base model, or name other lora.targetModules."
    return StartFailure("AdapterNotApplied", f"{message} {advice}")

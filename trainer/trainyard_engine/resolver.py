"""Finds the adapter of a checkpoint id in the artifact store."""

import asyncio
import logging

from fastapi import HTTPException
from vllm.lora.request import LoRARequest
from vllm.lora.resolver import LoRAResolver

from trainyard_artifacts.addresses import ArtifactError, ArtifactMissing, StoreUnavailable
from trainyard_artifacts.checkpoints import fetch_checkpoint, is_checkpoint_id, locate_checkpoint
from trainyard_artifacts.store import ArtifactStore
from trainyard_engine.retirement import Retirement, Unload

logger = logging.getLogger("vllm.trainyard")  # below vLLM's own logger, and so in its format


class CheckpointResolver(LoRAResolver):
    """Known names are lower-case uuids and nothing else: an id is never used twice, a public name may be."""

    def __init__(self, store: ArtifactStore, unload: Unload) -> None:
        self.store = store
        self.retirement = Retirement(store.cache, unload) if store.cache else None

    async def resolve_lora(self, base_model_name: str, lora_name: str) -> LoRARequest | None:
        """None where there is no such checkpoint (vLLM then answers 404); a 500 where it is damaged, a 503 where the
        store is away."""
        if not is_checkpoint_id(lora_name):
            return None
        try:
            path = await asyncio.to_thread(fetch_checkpoint, self.store, locate_checkpoint(lora_name))
        except ArtifactMissing:
            return None
        except ArtifactError as cause:
            logger.error("Refusing an adapter: %s", cause)
            raise HTTPException(500, f"{cause}.") from cause
        except StoreUnavailable as cause:
            logger.error("An adapter cannot be fetched: %s", cause)
            raise HTTPException(503, "The artifact store does not answer.") from cause
        if self.retirement:
            self.retirement.record_use(path, lora_name)
        # vLLM gives the adapter its number afterwards.
        return LoRARequest(lora_name=lora_name, lora_int_id=1, lora_path=str(path))

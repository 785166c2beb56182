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

logger = logging.getLogger("vllm.trainyard")  # a child of vLLM's own logger, for its format


class CheckpointResolver(LoRAResolver):
    """Only accepts lower-case UUIDs. An id is never reused, but a public name may be."""

    def __init__(self, store: ArtifactStore, unload: Unload) -> None:
        self.store = store
        self.retirement = Retirement(store.cache, unload) if store.cache else None

    async def resolve_lora(self, base_model_name: str, lora_name: str) -> LoRARequest | None:
        """Returns None for a missing checkpoint, for which vLLM answers 404. Raises 500 for a damaged checkpoint, and
        503 when the store is unavailable."""
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
        # vLLM numbers the adapter afterwards.
        return LoRARequest(lora_name=lora_name, lora_int_id=1, lora_path=str(path))

"""Finds the adapter of a checkpoint id in the artifact store."""

import asyncio
import logging
from pathlib import Path

from fastapi import HTTPException
from vllm.lora.request import LoRARequest
from vllm.lora.resolver import LoRAResolver

from trainyard_artifacts.checkpoints import SERVED_FILES, is_checkpoint_id, verify_checkpoint
from trainyard_artifacts.store import ArtifactError

logger = logging.getLogger("vllm.trainyard")  # below vLLM's own logger, and so in its format


class CheckpointResolver(LoRAResolver):
    """Known names are lower-case uuids and nothing else: an id is never used twice, a public name may be."""

    def __init__(self, artifacts: Path) -> None:
        self.folder = artifacts / "checkpoints"

    async def resolve_lora(self, base_model_name: str, lora_name: str) -> LoRARequest | None:
        """None where there is no such checkpoint (vLLM then answers 404); a 500 where it is damaged."""
        if not is_checkpoint_id(lora_name):
            return None
        path = self.folder / lora_name
        if not path.is_dir():
            return None
        try:
            await asyncio.to_thread(verify_checkpoint, path, SERVED_FILES)
        except ArtifactError as cause:
            logger.error("Refusing an adapter: %s", cause)
            raise HTTPException(500, f"{cause}.") from cause
        # vLLM gives the adapter its number afterwards.
        return LoRARequest(lora_name=lora_name, lora_int_id=1, lora_path=str(path))

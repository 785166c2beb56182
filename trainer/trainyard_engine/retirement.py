"""Removes fetched adapters from the disk, after vLLM has unloaded them."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from trainyard_artifacts.folder_cache import FolderCache

logger = logging.getLogger("vllm.trainyard")

# Waiting requests may still load an adapter after vLLM has unloaded it. Clients wait for at most ten minutes.
GRACE_SECONDS = 15 * 60

Unload = Callable[[str], Awaitable[None]]


class Retirement:
    """Removes fetched adapters beyond the cache's limit, least recently used first.

    vLLM reloads a known adapter from its folder after it has dropped it from memory. If the folder is gone, vLLM
    crashes. So vLLM must unload the adapter first. It asks the resolver again when a request needs it.
    """

    def __init__(self, cache: FolderCache, unload: Unload, grace_seconds: float = GRACE_SECONDS) -> None:
        self.cache = cache
        self.unload = unload
        self.grace_seconds = grace_seconds
        self.names: defaultdict[Path, set[str]] = defaultdict(set)
        self.retiring: dict[Path, asyncio.Task] = {}

    def record_use(self, folder: Path, name: str) -> None:
        """Records that an adapter will be loaded from this folder, which keeps it. Other adapters may have to be
        removed."""
        self.names[folder].add(name)
        if task := self.retiring.pop(folder, None):
            task.cancel()
        for surplus in self.cache.surplus():
            if surplus not in self.retiring:
                self.retiring[surplus] = asyncio.create_task(self.retire(surplus))

    async def retire(self, folder: Path) -> None:
        try:
            for name in sorted(self.names[folder]):
                await self.unload(name)
                self.names[folder].discard(name)
            await asyncio.sleep(self.grace_seconds)
            # A request may have used it without a record yet.
            if time.time() - folder.stat().st_mtime >= self.grace_seconds:
                self.cache.remove(folder)
                del self.names[folder]
                logger.info("Removed %s from the cache of adapters", folder.name)
        except (OSError, httpx.HTTPError):
            logger.exception("An adapter that is to go stays in the cache for now")
        self.retiring.pop(folder, None)


def unload_over_http(host: str, port: int, key: str | None) -> Unload:
    """Calls this engine's own API to unload an adapter."""
    address = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def unload(name: str) -> None:
        # Proxies are for external hosts. This is the engine itself.
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            url = f"http://{address}:{port}/v1/unload_lora_adapter"
            answer = await client.post(url, json={"lora_name": name}, headers=headers)
        if answer.status_code != httpx.codes.NOT_FOUND:  # 404: it was never loaded
            answer.raise_for_status()

    return unload

"""Loads the adapters that clients use before the engine is Ready, so that their next chats do not wait."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import httpx
from vllm.lora.request import LoRARequest

from trainyard_engine.config import Settings

logger = logging.getLogger("vllm.trainyard")

ASK_SECONDS = 5.0
ATTEMPTS = 3
RETRY_SECONDS = 1.0
# An adapter that cannot be loaded, or a slow store, does not keep the engine from becoming Ready.
LOAD_SECONDS = 60.0
# The store answers several requests at once; vLLM loads one adapter after the other.
CONCURRENT_LOADS = 4

Load = Callable[[str], Awaitable[object]]


async def load_wanted_adapters(settings: Settings, load: Load, max_adapters: int) -> None:
    """The least important ones first: those that are used last stay in memory for longest."""
    ids = await list_wanted_adapters(settings, max_adapters)
    permits = asyncio.Semaphore(CONCURRENT_LOADS)

    async def load_one(name: str) -> bool:
        async with permits:
            result = await load(name)
        if not isinstance(result, LoRARequest):
            logger.warning("The adapter %s is not loaded: %s", name, result)
        return isinstance(result, LoRARequest)

    try:
        async with asyncio.timeout(LOAD_SECONDS):
            results = await asyncio.gather(*map(load_one, reversed(ids)), return_exceptions=True)
    except TimeoutError:
        logger.warning("Not all adapters in use are loaded after %s s. The others load on demand.", LOAD_SECONDS)
        return
    for error in results:
        if isinstance(error, BaseException):
            logger.warning("An adapter is not loaded: %s", error)
    logger.info("Loaded %s of %s adapters in use", results.count(True), len(ids))


async def list_wanted_adapters(settings: Settings, max_adapters: int) -> list[str]:
    """Asks the status server for the ids, the most important first. Empty if it does not answer: adapters then load on
    demand."""
    if settings.status_url is None or settings.token_file is None:
        return []
    url = f"{settings.status_url}/v1/wanted-adapters"
    query = {"base_model": settings.model_names[0], "limit": max_adapters}
    async with httpx.AsyncClient(timeout=ASK_SECONDS, trust_env=False) as client:
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(RETRY_SECONDS)
            try:
                token = settings.token_file.read_text().strip()
                answer = await client.get(url, params=query, headers={"authorization": f"Bearer {token}"})
                answer.raise_for_status()
                return list(map(str, answer.json()["ids"]))[:max_adapters]
            except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError) as cause:
                logger.warning("The status server does not say which adapters are in use: %s", cause)
    return []

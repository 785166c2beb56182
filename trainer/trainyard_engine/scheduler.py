"""The engine's scheduler: it is fair between tenants, and keeps nothing of requests whose logits are not finite."""

from typing import Any

from vllm.config import VllmConfig
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from trainyard_engine.clean_scheduler import CleanScheduler
from trainyard_engine.fairness.scheduler import FairScheduler


class EngineScheduler(FairScheduler, CleanScheduler):
    pass


class AsyncEngineScheduler(FairScheduler, CleanScheduler, AsyncScheduler):
    """The same beside a device that computes the next step already."""


def build_scheduler(vllm_config: VllmConfig, **options: Any) -> Scheduler:
    """vLLM takes it for a class of schedulers."""
    is_async = vllm_config.scheduler_config.async_scheduling
    return (AsyncEngineScheduler if is_async else EngineScheduler)(vllm_config=vllm_config, **options)

"""Threads that tenants share fairly, for work in which the engine's server reads texts."""

import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from vllm.renderers import BaseRenderer
from vllm.tokenizers.hf import ThreadSafeHFTokenizerMixin

from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import Tenant, tenant_now


@dataclass
class Task:
    tenant: Tenant
    work: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


# No tenant has more than one of them, so that short texts of others do not wait for a long one.
THREADS = 2


def share_fairly(renderer: BaseRenderer) -> None:
    """Tasks of the renderer wait in a queue of their tenant. The tenant that had the least seconds is next."""
    texts = renderer._executor
    # Other tokenizers are not safe for several threads, and neither is the cache of media of pooling models.
    is_safe = isinstance(renderer.tokenizer, ThreadSafeHFTokenizerMixin)
    if texts._max_workers < THREADS and is_safe and renderer.model_config.runner_type != "pooling":
        texts._max_workers = THREADS
        texts.replace_inner()
    for executor in (texts, renderer._mm_executor):
        executor.submit = FairSubmission(executor.submit, executor._max_workers).submit


class FairSubmission:
    """Passes on no more tasks than there are threads, because the executor itself serves them in their order."""

    def __init__(self, submit: Callable[..., Any], threads: int) -> None:
        self.pass_on = submit
        self.free = threads
        self.max_of_tenant = max(1, threads // 2)
        self.stride = StrideScheduler()
        self.lock = Lock()
        #: a tenant without waiting tasks has no entry
        self.lines: dict[Tenant, deque[Task]] = {}
        self.running: Counter[Tenant] = Counter()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        task = Task(tenant_now.get(), partial(function, *arguments, **named))
        with self.lock:
            self.stride.enter(task.tenant)
            self.lines.setdefault(task.tenant, deque()).append(task)
            self.serve()
        return task.future

    def serve(self) -> None:
        while self.free > 0 and (tenant := self.stride.pick(filter(self.may_have_thread, self.lines))):
            line = self.lines[tenant]
            task = line.popleft()
            if not line:
                del self.lines[tenant]
            self.free -= 1
            self.running[tenant] += 1
            try:
                self.pass_on(self.run, task)
            except RuntimeError as cause:  # the executor is shut down
                self.return_thread(tenant, 0)
                task.future.set_exception(cause)

    def may_have_thread(self, tenant: Tenant) -> bool:
        return self.running[tenant] < self.max_of_tenant

    def run(self, task: Task) -> None:
        started = time.perf_counter()
        try:
            if task.future.set_running_or_notify_cancel():
                complete(task)
        finally:
            with self.lock:
                self.return_thread(task.tenant, time.perf_counter() - started)
                self.serve()

    def return_thread(self, tenant: Tenant, seconds: float) -> None:
        self.free += 1
        self.running[tenant] -= 1
        self.stride.charge(tenant, seconds)
        if not self.running[tenant] and tenant not in self.lines:
            del self.running[tenant]
            self.stride.leave(tenant)


def complete(task: Task) -> None:
    try:
        result = task.work()
    except BaseException as cause:
        task.future.set_exception(cause)
    else:
        task.future.set_result(result)

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

from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import Tenant, tenant_now


@dataclass
class Task:
    tenant: Tenant
    work: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


def share_fairly(renderer: BaseRenderer) -> None:
    """Tasks of the renderer wait in a queue of their tenant. The tenant that had the least seconds is next."""
    for executor in (renderer._executor, renderer._mm_executor):
        executor.submit = FairSubmission(executor.submit, executor._max_workers).submit


class FairSubmission:
    """Passes on no more tasks than there are threads, because the executor itself serves them in their order."""

    def __init__(self, submit: Callable[..., Any], threads: int) -> None:
        self.pass_on = submit
        self.free = threads
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
        while self.free > 0 and (tenant := self.stride.pick(self.lines)):
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

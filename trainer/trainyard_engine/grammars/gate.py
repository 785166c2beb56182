"""Admits only grammars to the engine that were compiled within the limits."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol

from trainyard_engine.fairness.tenants import Tenant
from trainyard_engine.grammars.fair_semaphore import FairSemaphore
from trainyard_engine.grammars.known import KnownGrammars
from trainyard_engine.grammars.order import Order
from trainyard_engine.grammars.verdict import GrammarError, Verdict

# With two permits, a tenant whose grammars take long leaves one to the others.
SLOTS = 2
# A compilation takes at most ten seconds, and typically a hundredth.
WAITING_PER_TENANT = 32


class Compiles(Protocol):
    def compile(self, order: Order) -> Awaitable[Verdict]: ...


class SharedCheck:
    """A compilation, and how many requests wait for it."""

    task: asyncio.Task[Verdict]
    waiting = 0
    begun = False


class GrammarGate:
    def __init__(self, checker: Compiles, known: KnownGrammars, semaphore: FairSemaphore | None = None) -> None:
        self.checker = checker
        self.known = known
        self.semaphore = semaphore or FairSemaphore(SLOTS, WAITING_PER_TENANT)
        #: The key contains the tenant, so that no request waits in another tenant's queue.
        self.under_way: dict[tuple[Tenant, str], SharedCheck] = {}

    async def admit(self, tenant: Tenant, order: Order) -> None:
        """Returns when the engine may have the grammar.

        Raises GrammarError when it may not.
        """
        if self.known.is_good(order.digest):
            return
        sentence = self.known.find_error(order.digest)
        if sentence is None:
            sentence = (await self.share_check(tenant, order)).error
        if sentence is not None:
            raise GrammarError(400, sentence)

    async def share_check(self, tenant: Tenant, order: Order) -> Verdict:
        """Requests with the same new grammar share one compilation. If all of them are cancelled before it begins, it
        is cancelled."""
        name = (tenant, order.digest)
        check = self.under_way.get(name) or self.open_check(name, order)
        check.waiting += 1
        try:
            return await asyncio.shield(check.task)
        finally:
            check.waiting -= 1
            if check.waiting == 0 and not check.begun:
                check.task.cancel()
                self.forget(name, check)

    def open_check(self, name: tuple[Tenant, str], order: Order) -> SharedCheck:
        check = SharedCheck()
        check.task = asyncio.create_task(self.check(name[0], order, check))
        check.task.add_done_callback(lambda _: self.forget(name, check))
        self.under_way[name] = check
        return check

    def forget(self, name: tuple[Tenant, str], check: SharedCheck) -> None:
        if self.under_way.get(name) is check:
            del self.under_way[name]

    async def check(self, tenant: Tenant, order: Order, shared: SharedCheck) -> Verdict:
        await self.semaphore.acquire(tenant)
        shared.begun = True
        started = time.monotonic()
        engine_seconds = 0.0
        try:
            verdict = await self.checker.compile(order)
            self.known.record(order.digest, verdict)
            if verdict.grammar:
                engine_seconds = time.monotonic() - started
            return verdict
        finally:
            # The engine now compiles it again, which takes about as long, and compiles one grammar at a time.
            asyncio.get_running_loop().call_later(engine_seconds, self.semaphore.release, tenant)

"""A semaphore that tenants share fairly."""

from asyncio import CancelledError, Future, get_running_loop
from collections import deque

from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import Tenant
from trainyard_engine.grammars.verdict import GrammarError


class FairSemaphore:
    """At most `slots` permits at once, one for each tenant. Waiting tenants take turns, not waiting requests."""

    def __init__(self, slots: int, waiting: int) -> None:
        self.free = slots
        self.max_waiting = waiting
        self.active: set[Tenant] = set()
        #: waiting requests by tenant; a tenant without waiting requests has no entry
        self.queues: dict[Tenant, deque[Future[None]]] = {}
        #: of the tenants that wait or have a permit
        self.stride = StrideScheduler()

    async def acquire(self, tenant: Tenant) -> None:
        """Waits for a permit, which `release` returns.

        Raises GrammarError when too many requests of this tenant wait already.
        """
        permit = self.enqueue(tenant)
        self.serve()
        try:
            await permit
        except CancelledError:
            if permit.cancelled():
                self.withdraw(tenant, permit)
            else:
                self.release(tenant)
            raise

    def release(self, tenant: Tenant) -> None:
        self.free += 1
        self.active.discard(tenant)
        self.stride.charge(tenant, 1)
        self.serve()
        self.forget_idle(tenant)

    def enqueue(self, tenant: Tenant) -> Future[None]:
        queue = self.queues.setdefault(tenant, deque())
        if len(queue) >= self.max_waiting:
            message = (
                f"{self.max_waiting} new grammars of your entity are already waiting. Send this request again later."
            )
            raise GrammarError(429, message)
        self.stride.enter(tenant)
        permit: Future[None] = get_running_loop().create_future()
        queue.append(permit)
        return permit

    def serve(self) -> None:
        while self.free > 0 and (tenant := self.pick()) is not None:
            permit = self.queues[tenant][0]
            self.remove(tenant, permit)
            if permit.cancelled():
                continue
            self.free -= 1
            self.active.add(tenant)
            permit.set_result(None)

    def pick(self) -> Tenant | None:
        return self.stride.pick(tenant for tenant in self.queues if tenant not in self.active)

    def withdraw(self, tenant: Tenant, permit: Future[None]) -> None:
        """Removes a cancelled request from the queue."""
        if permit in self.queues.get(tenant, ()):
            self.remove(tenant, permit)
            self.forget_idle(tenant)

    def remove(self, tenant: Tenant, permit: Future[None]) -> None:
        self.queues[tenant].remove(permit)
        if not self.queues[tenant]:
            del self.queues[tenant]

    def forget_idle(self, tenant: Tenant) -> None:
        if tenant not in self.active and tenant not in self.queues:
            self.stride.leave(tenant)

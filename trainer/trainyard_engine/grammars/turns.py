"""Turns of tenants at something that few may do at a time."""

from asyncio import CancelledError, Future, get_running_loop
from collections import deque

from trainyard_engine.grammars.verdict import GrammarRefused


class Turns:
    """At most `slots` at once, one of each tenant; who waits is served in the order of tenants, not of requests."""

    def __init__(self, slots: int, waiting: int) -> None:
        self.free = slots
        self.max_waiting = waiting
        self.active: set[str] = set()
        #: who waits, by tenant; the tenant whose turn ended last stands last
        self.queues: dict[str, deque[Future[None]]] = {}

    async def take(self, tenant: str) -> None:
        """Waits for a turn, which `give_back` ends.

        Raises GrammarRefused where too many of this tenant wait already.
        """
        queue = self.queues.setdefault(tenant, deque())
        if len(queue) >= self.max_waiting:
            raise GrammarRefused(429, f"{self.max_waiting} new grammars of yours are waiting already; ask again later.")
        turn: Future[None] = get_running_loop().create_future()
        queue.append(turn)
        self.serve()
        try:
            await turn
        except CancelledError:
            if not turn.cancelled():
                self.give_back(tenant)
            elif turn in queue:
                queue.remove(turn)  # who has left keeps nobody else out
            raise

    def give_back(self, tenant: str) -> None:
        self.free += 1
        self.active.discard(tenant)
        if tenant in self.queues:
            self.queues[tenant] = self.queues.pop(tenant)
        self.serve()

    def serve(self) -> None:
        while self.free > 0 and (tenant := self.pick()) is not None:
            turn = self.queues[tenant].popleft()
            if turn.cancelled():
                continue
            self.free -= 1
            self.active.add(tenant)
            turn.set_result(None)

    def pick(self) -> str | None:
        for tenant in [tenant for tenant, queue in self.queues.items() if not queue]:
            del self.queues[tenant]
        return next((tenant for tenant in self.queues if tenant not in self.active), None)

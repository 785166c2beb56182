"""Lets only grammars through to the engine that were compiled in time before."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol

from trainyard_engine.grammars.known import KnownGrammars
from trainyard_engine.grammars.order import Order
from trainyard_engine.grammars.turns import Turns
from trainyard_engine.grammars.verdict import GrammarRefused, Verdict

# Two, so that a tenant whose grammars take long leaves one to the others.
SLOTS = 2
# Each takes ten seconds at most, and most take a hundredth.
WAITING_PER_TENANT = 32


class Compiles(Protocol):
    def compile(self, order: Order) -> Awaitable[Verdict]: ...


class GrammarGate:
    def __init__(self, checker: Compiles, known: KnownGrammars, turns: Turns | None = None) -> None:
        self.checker = checker
        self.known = known
        self.turns = turns or Turns(SLOTS, WAITING_PER_TENANT)
        #: by tenant too: nobody waits in another's queue
        self.under_way: dict[tuple[str, str], asyncio.Task[Verdict]] = {}

    async def admit(self, tenant: str, order: Order) -> None:
        """Returns once the engine may have the grammar.

        Raises GrammarRefused where it may not.
        """
        if self.known.is_good(order.digest):
            return
        sentence = self.known.find_refusal(order.digest)
        if sentence is None:
            sentence = (await self.share_check(tenant, order)).refusal
        if sentence is not None:
            raise GrammarRefused(400, sentence)

    async def share_check(self, tenant: str, order: Order) -> Verdict:
        """Requests with the same new grammar wait for one compilation, which goes on when one of them leaves."""
        name = (tenant, order.digest)
        if name not in self.under_way:
            task = self.under_way[name] = asyncio.create_task(self.check(tenant, order))
            task.add_done_callback(lambda _: self.under_way.pop(name, None))
        return await asyncio.shield(self.under_way[name])

    async def check(self, tenant: str, order: Order) -> Verdict:
        await self.turns.take(tenant)
        started = time.monotonic()
        engine_seconds = 0.0
        try:
            verdict = await self.checker.compile(order)
            self.known.note(order.digest, verdict)
            if verdict.grammar:
                engine_seconds = time.monotonic() - started
            return verdict
        finally:
            # The engine compiles it now, for about as long, and one after another.
            asyncio.get_running_loop().call_later(engine_seconds, self.turns.give_back, tenant)

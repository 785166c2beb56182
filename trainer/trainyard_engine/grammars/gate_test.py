import asyncio

import pytest

from trainyard_engine.fairness.tenants import Tenant
from trainyard_engine.grammars.fair_semaphore import FairSemaphore
from trainyard_engine.grammars.gate import GrammarGate
from trainyard_engine.grammars.known import KnownGrammars
from trainyard_engine.grammars.order import MembersOrder
from trainyard_engine.grammars.verdict import Grammar, GrammarError, Verdict


class SlowChecker:
    """A slow checker, which rejects bad grammars."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds
        self.compiled = []

    async def compile(self, order):
        regex = order.text
        self.compiled.append(regex)
        await asyncio.sleep(self.seconds)
        return Verdict(error="bad") if "bad" in regex else Verdict(Grammar(regex, 1))


def order(regex):
    return MembersOrder(regex, "structured_outputs")


def open_gate(checker, semaphore=None):
    return GrammarGate(checker, KnownGrammars(10**9), semaphore)


def run(test):
    asyncio.run(asyncio.wait_for(test(), 5))


def test_a_known_grammar_is_not_compiled():
    async def test():
        checker = SlowChecker()
        gate = open_gate(checker)
        for _ in range(3):
            await gate.admit(Tenant("a"), order("x"))
        assert checker.compiled == ["x"]

    run(test)


def test_a_bad_grammar_is_compiled_once():
    async def test():
        checker = SlowChecker()
        gate = open_gate(checker)
        for _ in range(3):
            with pytest.raises(GrammarError, match="bad") as caught:
                await gate.admit(Tenant("a"), order("bad"))
            assert caught.value.status == 400
        assert checker.compiled == ["bad"]

    run(test)


def test_requests_of_a_tenant_share_a_compilation_also_when_the_first_leaves():
    async def test():
        checker = SlowChecker(0.02)
        gate = open_gate(checker)
        tasks = [asyncio.create_task(gate.admit(Tenant("a"), order("x"))) for _ in range(50)]
        await asyncio.sleep(0.01)
        tasks[0].cancel()
        await asyncio.gather(*tasks[1:])
        assert checker.compiled == ["x"]

    run(test)


def test_a_request_waits_for_at_most_one_grammar_of_another_tenant():
    async def test():
        checker = SlowChecker(0.02)
        gate = open_gate(checker, FairSemaphore(1, 9))
        flood = [asyncio.create_task(gate.admit(Tenant("a"), order(f"bad{number}"))) for number in range(9)]
        await asyncio.sleep(0.01)
        await gate.admit(Tenant("b"), order("x"))
        assert checker.compiled == ["bad0", "x"]
        await asyncio.gather(*flood, return_exceptions=True)

    run(test)


def test_a_permit_is_held_until_the_engine_has_compiled_too():
    async def test():
        checker = SlowChecker(0.05)
        gate = open_gate(checker, FairSemaphore(1, 9))
        await gate.admit(Tenant("a"), order("x"))
        second = asyncio.create_task(gate.admit(Tenant("b"), order("y")))
        await asyncio.sleep(0.02)
        assert checker.compiled == ["x"]
        await second
        assert checker.compiled == ["x", "y"]

    run(test)


def test_a_grammar_without_waiting_requests_is_not_compiled():
    async def test():
        checker = SlowChecker(0.02)
        gate = open_gate(checker, FairSemaphore(1, 9))
        tasks = [
            asyncio.create_task(gate.admit(Tenant("a"), order(name)))
            for name in ("first", "left", "left", "kept", "kept")
        ]
        await asyncio.sleep(0.01)
        for task in tasks[1:4]:
            task.cancel()
        await asyncio.gather(tasks[0], tasks[4])
        assert checker.compiled == ["first", "kept"]
        await gate.admit(Tenant("a"), order("left"))  # the same grammar may be requested again
        assert checker.compiled[-1] == "left"

    run(test)

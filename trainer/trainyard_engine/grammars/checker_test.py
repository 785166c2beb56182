"""Tests the real processes, with checks that behave like hostile grammars."""

import asyncio
import faulthandler
import os
import signal
import time

import pytest

from trainyard_engine.grammars.checker import Checker
from trainyard_engine.grammars.order import MembersOrder
from trainyard_engine.grammars.template import BROKEN, Limits
from trainyard_engine.grammars.verdict import Grammar, GrammarError, Verdict

LIMITS = Limits(wall_seconds=50, processor_seconds=1, memory_mib=64)
IMPATIENT = Limits(wall_seconds=0.5)
FINE = Verdict(Grammar("fine", 1))


def misbehave(order):
    match order.text:
        case "spin":
            while True:
                pass
        case "sleep":
            time.sleep(60)
        case "eat":
            return Verdict(Grammar(str(len(bytes(256 * 2**20))), 1))
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "kill":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
    return FINE


def open_misbehave():
    faulthandler.disable()  # pytest's, which a fork has too
    return misbehave


def run(limits, test):
    checker = Checker(limits)
    checker.fork()

    async def with_checker():
        checker.open(open_misbehave)
        try:
            await test(lambda what: checker.compile(MembersOrder(what, "tools")))
        finally:
            checker.close()

    asyncio.run(asyncio.wait_for(with_checker(), 60))


def test_the_next_grammar_is_compiled_after_any_failure():
    async def test(check):
        for what, sentence in {"spin": LIMITS.slow, "eat": LIMITS.large, "die": BROKEN}.items():
            assert await check(what) == Verdict(error=sentence)
        with pytest.raises(GrammarError) as caught:
            await check("kill")
        assert caught.value.status == 503
        assert await check("well") == FINE

    run(LIMITS, test)


def test_a_late_grammar_is_killed_while_others_continue():
    async def test(check):
        asleep = asyncio.create_task(check("sleep"))
        assert await check("well") == FINE
        assert await asleep == Verdict(error=IMPATIENT.late, lasting=False)

    run(IMPATIENT, test)

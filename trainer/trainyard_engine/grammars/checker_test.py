"""Tests the real processes, with checks that behave like hostile grammars."""

import asyncio
import faulthandler
import os
import signal
import time

import pytest

from trainyard_engine.fairness.tenants import Tenant, tenant_now
from trainyard_engine.grammars.checker import GrammarChecker, GrammarError
from trainyard_engine.grammars.grammar import CompileResult, Grammar
from trainyard_engine.grammars.process import BROKEN, Limits
from trainyard_engine.grammars.result_cache import ResultCache

LIMITS = Limits(wall_seconds=50, processor_seconds=1, memory_mib=64)
IMPATIENT = Limits(wall_seconds=0.5)


def misbehave(grammar):
    match grammar.text:
        case "spin":
            while True:
                pass
        case "sleep":
            time.sleep(60)
        case "eat":
            return CompileResult(size=len(bytes(256 * 2**20)))
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "kill":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        case "bad":
            return CompileResult("bad")
    return CompileResult(size=1)


def open_misbehave():
    faulthandler.disable()  # pytest's, which a fork has too
    return misbehave


class RecordingChecker(GrammarChecker):
    def __init__(self, limits):
        super().__init__(open_misbehave, ResultCache(10**9), limits)
        self.compiled = []

    def compile(self, grammar):
        self.compiled.append(grammar.text)
        return super().compile(grammar)

    async def find_error(self, text, tenant=""):
        """Status and sentence, or None."""
        tenant_now.set(Tenant(tenant))
        try:
            await self.admit(Grammar("regex", text))
        except GrammarError as cause:
            return cause.http_status, cause.message


def run(limits, test):
    checker = RecordingChecker(limits)
    try:
        asyncio.run(asyncio.wait_for(test(checker), 60))
    finally:
        checker.close()


def test_the_next_grammar_is_compiled_after_any_failure():
    async def test(checker):
        for text, sentence in {"spin": LIMITS.slow, "eat": LIMITS.large, "die": BROKEN}.items():
            assert await checker.find_error(text) == (400, sentence)
        assert (await checker.find_error("kill"))[0] == 503
        assert await checker.find_error("well") is None

    run(LIMITS, test)


def test_a_late_grammar_is_killed_and_may_be_tried_again():
    async def test(checker):
        for _ in range(2):
            assert await checker.find_error("sleep") == (400, IMPATIENT.late)
        assert checker.compiled == ["sleep", "sleep"]

    run(IMPATIENT, test)


@pytest.mark.parametrize(("text", "answer"), [("well", None), ("bad", (400, "bad"))])
def test_a_known_grammar_is_not_compiled_again(text, answer):
    async def test(checker):
        at_once = [asyncio.create_task(checker.find_error(text)) for _ in range(5)]
        assert await asyncio.gather(*at_once) == [answer] * 5
        assert await checker.find_error(text) == answer
        assert checker.compiled == [text]

    run(LIMITS, test)


def test_a_request_waits_for_at_most_one_grammar_of_another_tenant():
    async def test(checker):
        flood = [asyncio.create_task(checker.find_error(f"flood {number}", "a")) for number in range(9)]
        await asyncio.sleep(0)
        await checker.find_error("x", "b")
        assert checker.compiled.index("x") == 1
        await asyncio.gather(*flood)

    run(LIMITS, test)


def test_a_grammar_is_not_compiled_when_its_request_has_left():
    async def test(checker):
        tasks = [asyncio.create_task(checker.find_error(text)) for text in ("first", "left", "kept")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(tasks[0], tasks[2])
        assert checker.compiled == ["first", "kept"]

    run(LIMITS, test)

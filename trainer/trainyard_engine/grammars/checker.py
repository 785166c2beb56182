"""Admits only grammars to the engine that were compiled within the limits."""

import logging
from asyncio import wrap_future
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from multiprocessing import get_context
from multiprocessing.context import ForkContext, SpawnContext

from vllm.exceptions import GracefulHTTPError

from trainyard_engine.fairness.executor import FairSubmission
from trainyard_engine.grammars.grammar import CompileResult, Grammar
from trainyard_engine.grammars.process import Check, Limits, run_checks
from trainyard_engine.grammars.result_cache import ResultCache

logger = logging.getLogger("vllm.trainyard")

# The compiling process ends its children in time. If it does not answer this long, not even after its start, it hangs.
PATIENCE_SECONDS = 120.0
AWAY = "The engine cannot check grammars at the moment."


class GrammarError(GracefulHTTPError):
    """The engine does not get the request because of its grammar."""


class GrammarChecker:
    """Has the compiling process, and starts it again when it is gone. `open_check` is called in it."""

    def __init__(self, open_check: Callable[[], Check], results: ResultCache, limits: Limits | None = None) -> None:
        self.open_check = open_check
        self.results = results
        self.limits = limits or Limits()
        # One at a time. The engine then compiles it again, which takes about as long, beside the next one here.
        self.thread = ThreadPoolExecutor(1)
        self.submit = FairSubmission(self.thread.submit, 1).submit
        # A fork shares what this process has imported. Later, this process has threads, and a fork would inherit their
        # locks.
        self.start(get_context("fork"))

    async def admit(self, grammar: Grammar) -> None:
        """Returns when the engine may have the grammar. Tenants take turns.

        Raises GrammarError when it may not.
        """
        result = self.results.find(grammar) or await wrap_future(self.submit(self.check, grammar))
        if result.error:
            raise GrammarError(result.error, HTTPStatus.BAD_REQUEST)

    def check(self, grammar: Grammar) -> CompileResult:
        # Of requests with the same grammar that have waited, the first one has compiled it.
        result = self.results.find(grammar)
        if result is None:
            result = self.compile(grammar)
            self.results.record(grammar, result)
        return result

    def compile(self, grammar: Grammar) -> CompileResult:
        if not self.process.is_alive():
            self.start(get_context("spawn"))
        try:
            self.connection.send(grammar)
            if self.connection.poll(PATIENCE_SECONDS):
                return self.connection.recv()
        except (EOFError, OSError):
            logger.exception("The process that compiles grammars is gone; the next grammar starts another")
        self.close()
        raise GrammarError(AWAY, HTTPStatus.SERVICE_UNAVAILABLE)

    def start(self, context: ForkContext | SpawnContext) -> None:
        self.connection, theirs = context.Pipe()
        arguments = (theirs, self.open_check, self.limits)
        self.process = context.Process(target=run_checks, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def close(self) -> None:
        """Kills the process. A request that waits for it gets an error."""
        self.process.kill()
        self.process.join()

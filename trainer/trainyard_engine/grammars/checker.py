"""The engine's side of the compiling process."""

import asyncio
import logging
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess

from trainyard_engine.grammars.order import NESTED, Order
from trainyard_engine.grammars.template import Check, Limits, run_template
from trainyard_engine.grammars.verdict import GrammarError, Verdict

logger = logging.getLogger("vllm.trainyard")

# The compiling process ends its children in time. If it is this much later, it hangs itself.
PATIENCE_SECONDS = 10.0
# The start-up time of the process, which imports vLLM and reads the tokenizer.
START_SECONDS = 120.0
AWAY = "The engine cannot check grammars at the moment."


class Checker:
    """Compiles grammars in another process, which it restarts after a crash."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.open_check: Callable[[], Check] | None = None
        self.process: BaseProcess | None = None
        self.connection: Connection | None = None
        self.ready = asyncio.Event()
        self.waiting: dict[int, asyncio.Future[Verdict]] = {}
        self.count = 0

    def fork(self) -> None:
        """Starts the process early. It has what this process has imported: an import of vLLM takes ten seconds. Later
        this process has threads, and a fork would inherit their locks."""
        self.begin(multiprocessing.get_context("fork"))

    def open(self, open_check: Callable[[], Check]) -> None:
        self.open_check = open_check
        self.start()

    def start(self) -> None:
        if self.connection is None:
            self.begin(multiprocessing.get_context("spawn"))
        assert self.connection is not None
        self.connection.send(self.open_check)
        asyncio.get_running_loop().add_reader(self.connection.fileno(), self.receive)

    def begin(self, context: ForkContext | SpawnContext) -> None:
        self.connection, theirs = context.Pipe()
        # A fork has this end too. The connection would stay open.
        ours = self.connection if isinstance(context, ForkContext) else None
        args = (theirs, ours, self.limits)
        self.process = context.Process(target=run_template, args=args, daemon=True)
        self.process.start()
        theirs.close()

    async def wait_until_ready(self) -> None:
        """Kills a process that hangs during its start. The next grammar starts another one."""
        try:
            await asyncio.wait_for(self.ready.wait(), START_SECONDS)
        except TimeoutError as cause:
            self.close()
            raise GrammarError(503, AWAY) from cause

    async def compile(self, order: Order) -> Verdict:
        if self.connection is None:
            self.start()
        await self.wait_until_ready()
        if self.connection is None:
            raise GrammarError(503, AWAY)
        self.count += 1
        number = self.count
        answer = self.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self.connection.send((number, order))
            return await asyncio.wait_for(answer, self.limits.wall_seconds + PATIENCE_SECONDS)
        except RecursionError as cause:
            raise GrammarError(400, NESTED) from cause
        except (TimeoutError, OSError) as cause:
            self.close()
            raise GrammarError(503, AWAY) from cause
        finally:
            self.waiting.pop(number, None)

    def receive(self) -> None:
        assert self.connection is not None
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            logger.exception("The process that compiles grammars is gone; the next grammar starts another")
            self.close()
            return
        if message == "ready":
            self.ready.set()
            return
        number, verdict = message
        if (answer := self.waiting.get(number)) and not answer.done():
            answer.set_result(verdict)

    def close(self) -> None:
        """Kills the process. Waiting requests get an error."""
        if self.connection is None:
            return
        asyncio.get_running_loop().remove_reader(self.connection.fileno())
        self.connection.close()
        self.connection = None
        if self.process:
            self.process.kill()
        for answer in self.waiting.values():
            if not answer.done():
                answer.set_exception(GrammarError(503, AWAY))
        self.ready.set()  # a waiter finds that the process is gone
        self.ready = asyncio.Event()

"""The compiling process. It has loaded vLLM and the tokenizer, and forks a child for each grammar."""

import gc
import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import NoReturn

from trainyard_base_model.parent_death import end_with_parent
from trainyard_engine.grammars.order import Order
from trainyard_engine.grammars.verdict import Verdict

# Chats without a new grammar have priority.
NICENESS = 5
BROKEN = "The grammar compiler crashed on this grammar; simplify it."

Check = Callable[[Order], Verdict]


@dataclass(frozen=True)
class Limits:
    """The limits of one compilation."""

    wall_seconds: float = 10
    #: the engine compiles the grammar again, and other new grammars wait for that
    processor_seconds: int = 5
    memory_mib: int = 512

    @property
    def slow(self) -> str:
        return f"This grammar takes more than {self.processor_seconds} seconds to compile; make it smaller or simpler."

    @property
    def late(self) -> str:
        return f"This grammar was not compiled within {self.wall_seconds:g} seconds; simplify it, or try again later."

    @property
    def large(self) -> str:
        return f"This grammar takes more than {self.memory_mib} MiB of memory to compile; make it smaller or simpler."


@dataclass
class Child:
    number: int
    pid: int
    answer: Connection
    deadline: float


def run_template(orders: Connection, theirs: Connection | None, limits: Limits) -> None:
    """Receives a function that opens the check. Then answers each `(number, order)` with `(number, verdict)`, in any
    order, until the connection is closed. `theirs` is the other end of the connection, if it is open here too."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # a fork has none of its parent's threads
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if theirs:
        theirs.close()
    gc.freeze()  # a collection of garbage would copy all memory that forks share
    try:
        open_check = orders.recv()
    except EOFError:
        return
    template = Template(orders, open_check(), limits)
    orders.send("ready")
    template.run()


class Template:
    def __init__(self, orders: Connection, check: Check, limits: Limits) -> None:
        self.orders = orders
        self.check = check
        self.limits = limits
        self.children: list[Child] = []

    def run(self) -> None:
        while True:
            ready = wait([self.orders, *(child.answer for child in self.children)], self.measure_patience())
            for child in list(self.children):
                if child.answer in ready:
                    self.finish(child)
                elif time.monotonic() >= child.deadline:
                    self.finish(child, late=True)
            if self.orders in ready and not self.pop_order():
                return

    def measure_patience(self) -> float | None:
        now = time.monotonic()
        return min((max(child.deadline - now, 0) for child in self.children), default=None)

    def pop_order(self) -> bool:
        try:
            number, order = self.orders.recv()
        except EOFError:
            return False
        reader, writer = Pipe(duplex=False)
        if (pid := os.fork()) == 0:
            compile_here(self.check, self.limits, order, writer)
        writer.close()
        self.children.append(Child(number, pid, reader, time.monotonic() + self.limits.wall_seconds))
        return True

    def finish(self, child: Child, late: bool = False) -> None:
        self.children.remove(child)
        if late:
            os.kill(child.pid, signal.SIGKILL)
        verdict = receive(child.answer)
        _, status = os.waitpid(child.pid, 0)
        child.answer.close()
        if verdict is None:
            verdict = self.explain(status, late)
        self.orders.send((child.number, verdict))

    def explain(self, status: int, late: bool) -> Verdict:
        if late:
            # A timeout is not remembered: on an overloaded machine, any grammar may be late.
            return Verdict(error=self.limits.late, lasting=False)
        is_slow = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        return Verdict(error=self.limits.slow if is_slow else BROKEN)


def receive(answer: Connection) -> Verdict | None:
    try:
        return answer.recv()
    except (EOFError, OSError):
        return None


def compile_here(check: Check, limits: Limits, order: Order, answer: Connection) -> NoReturn:
    """The main function of a child."""
    try:
        end_with_parent()
        limit_resources(limits)
        answer.send(check(order))
    except MemoryError:
        answer.send(Verdict(error=limits.large))
    finally:
        os._exit(0)


def limit_resources(limits: Limits) -> None:
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds + 1))
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    max_bytes = used + limits.memory_mib * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))

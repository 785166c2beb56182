"""The process that compiles: it has vLLM and the tokenizer loaded, and forks a child for each grammar."""

import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from trainyard_engine.engine_process import end_with_parent
from trainyard_engine.grammars.order import Order
from trainyard_engine.grammars.verdict import Verdict

WALL_SECONDS = 10.0
# The engine compiles a grammar once more, and whoever else brings a new one waits for that.
PROCESSOR_SECONDS = 5
MEMORY_BYTES = 512 * 1024 * 1024

SLOW = f"This grammar takes more than {PROCESSOR_SECONDS} seconds to compile; make it smaller or simpler."
LATE = f"This grammar was not compiled within {WALL_SECONDS:.0f} seconds; make it smaller or simpler, or try again later."
LARGE = f"This grammar takes more than {MEMORY_BYTES // 2**20} MiB of memory to compile; make it smaller or simpler."
BROKEN = "The compiler of grammars ended over this one; make it simpler."

Check = Callable[[Order], Verdict]


@dataclass
class Child:
    number: int
    pid: int
    answer: Connection
    deadline: float


def run_template(orders: Connection, open_check: Callable[[], Check]) -> None:
    """Answers `(number, order)` with `(number, verdict)`, in no order, until nobody asks any more."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # a fork has none of its parent's threads
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    template = Template(orders, open_check())
    orders.send("ready")
    template.run()


class Template:
    def __init__(self, orders: Connection, check: Check) -> None:
        self.orders = orders
        self.check = check
        self.children: list[Child] = []

    def run(self) -> None:
        while True:
            now = time.monotonic()
            patience = min((child.deadline - now for child in self.children), default=None)
            ready = wait([self.orders, *(child.answer for child in self.children)], patience and max(patience, 0))
            for child in list(self.children):
                if child.answer in ready:
                    self.finish(child)
                elif time.monotonic() >= child.deadline:
                    self.finish(child, late=True)
            if self.orders in ready and not self.take_order():
                return

    def take_order(self) -> bool:
        try:
            number, order = self.orders.recv()
        except EOFError:
            return False
        reader, writer = Pipe(duplex=False)
        if (pid := os.fork()) == 0:
            compile_here(self.check, order, writer)
        writer.close()
        self.children.append(Child(number, pid, reader, time.monotonic() + WALL_SECONDS))
        return True

    def finish(self, child: Child, late: bool = False) -> None:
        self.children.remove(child)
        if late:
            os.kill(child.pid, signal.SIGKILL)
        verdict = receive(child.answer)
        _, status = os.waitpid(child.pid, 0)
        child.answer.close()
        if verdict is None:
            verdict = explain_late() if late else explain_death(status)
        self.orders.send((child.number, verdict))


def receive(answer: Connection) -> Verdict | None:
    try:
        return answer.recv()
    except (EOFError, OSError):
        return None


def explain_late() -> Verdict:
    """Kept for no later request: on a machine that has too much to do, any grammar may be late."""
    return Verdict(refusal=LATE, lasting=False)


def explain_death(status: int) -> Verdict:
    is_slow = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
    return Verdict(refusal=SLOW if is_slow else BROKEN)


def compile_here(check: Check, order: Order, answer: Connection) -> Any:
    """The whole life of a child."""
    try:
        end_with_parent()
        limit_resources()
        answer.send(check(order))
    except MemoryError:
        answer.send(Verdict(refusal=LARGE))
    finally:
        os._exit(0)


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1))
    with open("/proc/self/statm") as file:
        data = int(file.read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (data + MEMORY_BYTES, data + MEMORY_BYTES))

"""The compiling process. It has loaded the tokenizer, and forks a child for each grammar, which ends in time."""

import gc
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import NoReturn

from trainyard_base_model.parent_death import end_with_parent
from trainyard_engine.grammars.grammar import CompileResult, Grammar

# Chats without a new grammar have priority.
NICENESS = 5
BROKEN = "The grammar compiler crashed on this grammar; simplify it."

Check = Callable[[Grammar], CompileResult]


@dataclass(frozen=True)
class Limits:
    """The limits of one compilation."""

    wall_seconds: float = 8
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


def run_checks(grammars: Connection, open_check: Callable[[], Check], limits: Limits) -> None:
    """Answers each grammar with a result, until the parent ends."""
    end_with_parent()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # a fork has none of its parent's threads
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    check = open_check()
    gc.freeze()  # a collection of garbage would copy all memory that forks share
    while True:
        grammars.send(check_in_fork(check, grammars.recv(), limits))


def check_in_fork(check: Check, grammar: Grammar, limits: Limits) -> CompileResult:
    reader, writer = Pipe(duplex=False)
    with reader:
        if (pid := os.fork()) == 0:
            check_here(check, grammar, limits, writer)
        writer.close()
        try:
            result = reader.recv()
        except (EOFError, OSError):
            result = None
    _, status = os.waitpid(pid, 0)
    return result or explain(status, limits)


def explain(status: int, limits: Limits) -> CompileResult:
    match os.WIFSIGNALED(status) and os.WTERMSIG(status):
        case signal.SIGXCPU:
            return CompileResult(limits.slow)
        case signal.SIGALRM:
            # It is not remembered: on an overloaded machine, any grammar may be late.
            return CompileResult(limits.late, lasting=False)
    return CompileResult(BROKEN)


def check_here(check: Check, grammar: Grammar, limits: Limits, answer: Connection) -> NoReturn:
    """The main function of a child."""
    try:
        end_with_parent()
        limit_resources(limits)
        answer.send(check(grammar))
    except MemoryError:
        answer.send(CompileResult(limits.large))
    finally:
        os._exit(0)


def limit_resources(limits: Limits) -> None:
    os.nice(NICENESS)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds + 1))
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    max_bytes = used + limits.memory_mib * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))

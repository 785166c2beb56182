"""Remembers what compilations have shown."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from trainyard_engine.grammars.grammar import CompileResult, Grammar

ERROR_SECONDS = 600.0
#: the assumed overhead of a grammar in a cache, in addition to its own size
OVERHEAD_BYTES = 4096


class ResultCache:
    """A grammar is good while the engine's own cache has it. After that, it is compiled as a new one.

    The engine's cache drops the least recently used grammar when it exceeds its size. This class does the same, a
    little earlier.
    """

    def __init__(self, cache_bytes: int, now: Callable[[], float] = time.monotonic) -> None:
        self.cache_bytes = cache_bytes
        self.now = now
        #: with the time until which they count
        self.results: OrderedDict[bytes, tuple[CompileResult, float]] = OrderedDict()
        self.held_bytes = 0
        self.lock = Lock()

    def find(self, grammar: Grammar) -> CompileResult | None:
        with self.lock:
            result, until = self.results.get(grammar.digest, (None, 0.0))
            if result is None or self.now() > until:
                return None
            self.results.move_to_end(grammar.digest)
            return result

    def record(self, grammar: Grammar, result: CompileResult) -> None:
        if not result.lasting:
            return
        until = self.now() + ERROR_SECONDS if result.error else float("inf")
        with self.lock:
            self.drop(grammar.digest)
            self.results[grammar.digest] = result, until
            self.held_bytes += result.size + OVERHEAD_BYTES
            while self.held_bytes > self.cache_bytes and len(self.results) > 1:
                self.drop(next(iter(self.results)))

    def drop(self, digest: bytes) -> None:
        if digest in self.results:
            self.held_bytes -= self.results.pop(digest)[0].size + OVERHEAD_BYTES

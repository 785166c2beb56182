"""Remembers what compilations have shown."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from trainyard_engine.grammars.grammar import Grammar, Verdict

ERROR_SECONDS = 600.0
#: the assumed overhead of a grammar in a cache, in addition to its own size
OVERHEAD_BYTES = 4096


class KnownGrammars:
    """A grammar is good while the engine's own cache has it. After that, it is compiled as a new one.

    The engine's cache drops the least recently used grammar when it exceeds its size. This class does the same, a
    little earlier.
    """

    def __init__(self, cache_bytes: int, now: Callable[[], float] = time.monotonic) -> None:
        self.cache_bytes = cache_bytes
        self.now = now
        #: with the time until which they count
        self.verdicts: OrderedDict[bytes, tuple[Verdict, float]] = OrderedDict()
        self.held_bytes = 0
        self.lock = Lock()

    def find(self, grammar: Grammar) -> Verdict | None:
        with self.lock:
            verdict, until = self.verdicts.get(grammar.digest, (None, 0.0))
            if verdict is None or self.now() > until:
                return None
            self.verdicts.move_to_end(grammar.digest)
            return verdict

    def record(self, grammar: Grammar, verdict: Verdict) -> None:
        if not verdict.lasting:
            return
        until = self.now() + ERROR_SECONDS if verdict.error else float("inf")
        with self.lock:
            self.drop(grammar.digest)
            self.verdicts[grammar.digest] = verdict, until
            self.held_bytes += verdict.size + OVERHEAD_BYTES
            while self.held_bytes > self.cache_bytes and len(self.verdicts) > 1:
                self.drop(next(iter(self.verdicts)))

    def drop(self, digest: bytes) -> None:
        if digest in self.verdicts:
            self.held_bytes -= self.verdicts.pop(digest)[0].size + OVERHEAD_BYTES

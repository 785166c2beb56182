"""Remembers compiled grammars and their results."""

import time
from collections import OrderedDict
from collections.abc import Callable

from trainyard_engine.grammars.verdict import Grammar, Verdict

REMEMBERED = 10_000
ERROR_SECONDS = 600.0
#: the assumed overhead of a grammar in the engine's cache, in addition to its own size
OVERHEAD_BYTES = 4096


class KnownGrammars:
    """A grammar is good while the engine's own cache has it. After that, it is compiled as a new one.

    The engine's cache drops the least recently used grammar when it exceeds its size. This class does the same, a
    little earlier.
    """

    def __init__(self, cache_bytes: int, now: Callable[[], float] = time.monotonic) -> None:
        self.cache_bytes = cache_bytes
        self.now = now
        self.held: OrderedDict[str, int] = OrderedDict()
        self.held_bytes = 0
        #: the grammar's key by the digest of the order; None for an order without a grammar
        self.keys: OrderedDict[str, str | None] = OrderedDict()
        self.errors: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def is_good(self, digest: str) -> bool:
        if digest not in self.keys:
            return False
        self.keys.move_to_end(digest)
        key = self.keys[digest]
        if key is None:
            return True
        if key not in self.held:
            return False
        self.held.move_to_end(key)
        return True

    def find_error(self, digest: str) -> str | None:
        sentence, until = self.errors.get(digest, (None, 0.0))
        return sentence if self.now() < until else None

    def record(self, digest: str, verdict: Verdict) -> None:
        if verdict.error is None:
            self.record_good(digest, verdict.grammar)
        elif verdict.lasting:
            self.errors[digest] = (verdict.error, self.now() + ERROR_SECONDS)
            trim(self.errors)

    def record_good(self, digest: str, grammar: Grammar | None) -> None:
        key = grammar.key if grammar else None
        # vLLM passes the grammar to the engine under its key.
        for name in {digest, key} - {None}:
            self.keys[name] = key
        trim(self.keys)
        if grammar:
            self.hold(grammar)

    def hold(self, grammar: Grammar) -> None:
        self.held_bytes += grammar.size + OVERHEAD_BYTES - self.held.pop(grammar.key, 0)
        self.held[grammar.key] = grammar.size + OVERHEAD_BYTES
        while self.held_bytes > self.cache_bytes and len(self.held) > 1:
            self.held_bytes -= self.held.popitem(last=False)[1]


def trim(memory: OrderedDict) -> None:
    while len(memory) > REMEMBERED:
        memory.popitem(last=False)

"""What the engine's server and the compiling process say to each other."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Grammar:
    #: the name of the setting in `structured_outputs` that the text is of
    kind: str
    text: str

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(f"{self.kind}:{self.text}".encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class CompileResult:
    """What a compilation has shown: an error, or the bytes that a cache keeps of the compiled grammar."""

    error: str | None = None
    size: int = 0
    #: whether it is about the grammar itself, not about the current load
    lasting: bool = True


def find_grammar(settings: Any) -> Grammar | None:
    """`settings` are vLLM's `structured_outputs` of a request, of which one kind is set."""
    for kind in ("json", "regex", "choice", "grammar", "structural_tag"):
        value = getattr(settings, kind)
        if value is not None:
            return Grammar(kind, value if isinstance(value, str) else json.dumps(value))
    return Grammar("json", '{"type": "object"}') if settings.json_object else None

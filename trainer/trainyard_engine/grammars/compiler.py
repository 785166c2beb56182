"""Compiles a grammar, and tries it, with public functions of xgrammar, which vLLM compiles it with too."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import xgrammar

from trainyard_engine.grammars.grammar import CompileResult, Grammar

# vLLM parses a grammar again for each request, and blocks all chats meanwhile.
READING_SECONDS = 0.25
# vLLM computes each mask the same way.
MASK_SECONDS = 0.1
MASKS = 16
MAX_SENTENCE = 500
# xgrammar's errors begin with a time and a line of its own code.
PLACE = re.compile(r"^\[[\d:]+\] \S+: ")
# A comment of either syntax may show the other's rules.
COMMENT = re.compile(r"(#|//).*")


@dataclass(frozen=True)
class Tokenizer:
    """The arguments with which vLLM loads a model's tokenizer."""

    name: str
    revision: str | None = None
    trust_remote_code: bool = False


def open_check(tokenizer: Tokenizer) -> Callable[[Grammar], CompileResult]:
    # Imported late: it reads the environment.
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(
        tokenizer.name, revision=tokenizer.revision, trust_remote_code=tokenizer.trust_remote_code
    )
    info = xgrammar.TokenizerInfo.from_huggingface(loaded)
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    return lambda grammar: check(compiler, grammar)


def check(compiler: xgrammar.GrammarCompiler, grammar: Grammar) -> CompileResult:
    try:
        started = time.process_time()
        rules = read(grammar)
        if time.process_time() - started > READING_SECONDS:
            return CompileResult("This grammar takes too long to read; simplify it.")
        compiled = compiler.compile_grammar(rules)
        if not is_fast(compiled):
            return CompileResult("This grammar takes too long for each token; simplify it.")
        return CompileResult(size=compiled.memory_size_bytes)
    except MemoryError:
        raise  # the caller that set the limit reports it
    except Exception as cause:
        return CompileResult(
            PLACE.sub("", f"{cause}").strip()[:MAX_SENTENCE] or "The engine cannot compile this grammar."
        )


def read(grammar: Grammar) -> xgrammar.Grammar:
    """Raises RuntimeError or ValueError."""
    match grammar.kind:
        case "json":
            return xgrammar.Grammar.from_json_schema(grammar.text)
        case "regex":
            return xgrammar.Grammar.from_regex(grammar.text)
        case "choice":
            return xgrammar.Grammar.from_ebnf(f"root ::= {' | '.join(map(json.dumps, json.loads(grammar.text)))}")
        case "structural_tag":
            return xgrammar.Grammar.from_structural_tag(renew_tag(json.loads(grammar.text)))
    if "::=" in COMMENT.sub("", grammar.text):
        return xgrammar.Grammar.from_ebnf(grammar.text)
    return xgrammar.Grammar.from_lark(grammar.text)


def renew_tag(tag: dict[str, Any]) -> dict[str, Any]:
    """Clients may send the older form of structural tags."""
    if "structures" not in tag:
        return tag
    tags = [
        {"begin": item["begin"], "content": {"type": "json_schema", "json_schema": item["schema"]}, "end": item["end"]}
        for item in tag["structures"]
    ]
    return {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": tag["triggers"], "tags": tags}}


def is_fast(compiled: xgrammar.CompiledGrammar) -> bool:
    """Samples some tokens, because a grammar that compiles fast may still be slow for each token."""
    matcher = xgrammar.GrammarMatcher(compiled)
    mask = xgrammar.allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    random = torch.Generator().manual_seed(0)
    for _ in range(MASKS):
        started = time.process_time()
        matcher.fill_next_token_bitmask(mask)
        allowed = list_allowed(mask)
        matcher.accept_token(int(allowed[int(torch.randint(len(allowed), (1,), generator=random))]))
        if time.process_time() - started > MASK_SECONDS:
            return False
        if matcher.is_terminated():
            break
    return True


def list_allowed(mask: torch.Tensor) -> torch.Tensor:
    bits = mask[0].unsqueeze(1) >> torch.arange(32, dtype=torch.int32)
    return (bits & 1).flatten().nonzero().flatten()

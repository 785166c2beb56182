"""Runs vLLM's own code from a request to the masks of its grammar, once and without an engine."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
import xgrammar
from pydantic import ValidationError
from vllm.config import VllmConfig
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.exceptions import VLLMValidationError
from vllm.parser import ParserManager
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.tokenizers import TokenizerLike, cached_tokenizer_from_config
from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend, XgrammarGrammar
from vllm.v1.structured_output.request import get_structured_output_key

from trainyard_engine.grammars.order import Order, ParamsOrder
from trainyard_engine.grammars.verdict import Grammar, GrammarError, Verdict
from trainyard_engine.parsers.tolerant import make_tolerant

# vLLM parses a grammar again for each request, and blocks all chats meanwhile.
READING_SECONDS = 0.25
# vLLM computes each mask the same way.
MASK_SECONDS = 0.1
MASKS = 16
MAX_SENTENCE = 500


@dataclass(frozen=True)
class Recipe:
    """What the compiler is built from. It is sent to the compiling process."""

    config: VllmConfig
    #: the arguments of vLLM's server that choose the parser of tool calls and reasoning
    parser: dict[str, Any]


class Compiler:
    """Has the tokenizer, as the engine's own compiler does."""

    def __init__(self, recipe: Recipe) -> None:
        self.config = recipe.config
        self.model = recipe.config.model_config
        self.tokenizer = cast(TokenizerLike, cached_tokenizer_from_config(model_config=self.model))
        self.vocabulary = self.model.get_vocab_size()
        self.backend = XgrammarBackend(self.config, tokenizer=self.tokenizer, vocab_size=self.vocabulary)
        self.parser = make_tolerant(ParserManager.get_parser(**recipe.parser, tokenizer=self.tokenizer))

    def check(self, order: Order) -> Verdict:
        try:
            params = order.params if isinstance(order, ParamsOrder) else self.read(json.loads(order.text))
        except (ValidationError, VLLMValidationError):
            # vLLM itself reports these errors better, and as fast.
            return Verdict()
        except MemoryError:
            raise  # the caller that set the limit reports it
        except Exception as cause:
            return reject(cause)
        if params is None or params.all_constraints_none():
            return Verdict()
        try:
            return Verdict(self.compile(params))
        except MemoryError:
            raise
        except Exception as cause:
            return reject(cause)

    def read(self, members: dict[str, Any]) -> StructuredOutputsParams | None:
        message = {"role": "user", "content": "a"}
        request = ChatCompletionRequest.model_validate({**members, "messages": [message]})
        if self.parser and request.tool_choice != "none":
            parser = self.parser(
                self.tokenizer,
                cast(Any, request.tools),  # as vLLM itself passes them
                model_config=self.model,
                chat_template_kwargs=request.chat_template_kwargs or {},
            )
            request = parser.adjust_request(request)
        return request.extract_structured_outputs()

    def compile(self, params: StructuredOutputsParams) -> Grammar:
        key = ParamsOrder(params).digest
        params = replace(params)  # the check changes it
        sampling = SamplingParams(structured_outputs=params)
        sampling.verify(self.model, None, self.config.structured_outputs_config, self.tokenizer)
        if time.process_time() > READING_SECONDS:
            raise GrammarError(400, "This grammar takes too long to read; simplify it.")
        compiled = cast(XgrammarGrammar, self.backend.compile_grammar(*get_structured_output_key(params))).ctx
        self.walk(compiled)
        return Grammar(key, compiled.memory_size_bytes)

    def walk(self, compiled: xgrammar.CompiledGrammar) -> None:
        """Samples some tokens, because a grammar that compiles fast may still be slow for each token."""
        matcher = xgrammar.GrammarMatcher(compiled)
        mask = xgrammar.allocate_token_bitmask(1, self.vocabulary)
        random = torch.Generator().manual_seed(0)
        for _ in range(MASKS):
            started = time.process_time()
            matcher.fill_next_token_bitmask(mask)
            allowed = list_allowed(mask)
            token = int(allowed[int(torch.randint(len(allowed), (1,), generator=random))])
            matcher.accept_token(token)
            if time.process_time() - started > MASK_SECONDS:
                raise GrammarError(400, "This grammar takes too long for each token; simplify it.")
            if matcher.is_terminated():
                return


def list_allowed(mask: torch.Tensor) -> torch.Tensor:
    bits = mask[0].unsqueeze(1) >> torch.arange(32, dtype=torch.int32)
    return (bits & 1).flatten().nonzero().flatten()


def reject(cause: Exception) -> Verdict:
    return Verdict(error=f"{cause}"[:MAX_SENTENCE] or "The engine cannot compile this grammar.")


def open_check(recipe: Recipe) -> Callable[[Order], Verdict]:
    return Compiler(recipe).check

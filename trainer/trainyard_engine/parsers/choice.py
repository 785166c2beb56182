"""The parsers of an engine: those that the BaseModel names, otherwise those that fit its model."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.logger import init_logger
from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.renderers.chat_utils import load_chat_template
from vllm.tokenizers import TokenizerLike, cached_tokenizer_from_config
from vllm.tool_parsers import ToolParserManager
from vllm.utils.mistral import is_mistral_tokenizer

from trainyard_engine.config import ConfigError, Settings
from trainyard_engine.parsers.families import Parsers, guess_parsers

# vLLM's loggers are the ones that its server configures.
logger = init_logger("vllm.trainyard_engine.parsers")

#: turns a guess off
NONE = "none"
# The status of a BaseModel shows the last 500 characters of the log.
MAX_CAUSE = 250


@dataclass(frozen=True)
class Choice:
    """One field of the BaseModel: the named parser, the guessed one, and all parsers of vLLM."""

    field: str
    named: str | None
    guess: str | None
    registered: list[str]

    def settle(self, find_misfit: Callable[[str], str | None]) -> str | None:
        """A named parser must fit the model. If a guessed parser does not fit, there is no parser."""
        if self.named is None:
            return self.guess if self.guess and not find_misfit(self.guess) else None
        if self.named == NONE:
            return None
        error = None if self.named in self.registered else self.describe_unknown()
        if error := error or find_misfit(self.named):
            raise ConfigError(f'{self.field}: {error} Set another name, or "none" to serve the model without a parser.')
        return self.named

    def describe_unknown(self) -> str:
        near = ", ".join(get_close_matches(self.named or "", self.registered, n=3)) or "hermes, mistral, qwen3"
        return f"vLLM has no parser {self.named!r}, but for example {near}."


def choose_parsers(parsed: Namespace, settings: Settings) -> None:
    """Writes the parsers into vLLM's arguments. Parsers in `spec.engine.args` stay unchanged.

    Raises ConfigError for a parser that vLLM does not have, or that does not fit the model's tokenizer.
    """
    if parsed.tool_call_parser or parsed.enable_auto_tool_choice or parsed.reasoning_parser:
        return
    if settings.tool_call_parser == NONE and settings.reasoning_parser == NONE:
        return
    parsers = find_parsers(parsed, settings)
    logger.info("tool call parser: %s, reasoning parser: %s", parsers.tool, parsers.reasoning)
    parsed.tool_call_parser = parsers.tool
    parsed.enable_auto_tool_choice = parsers.tool is not None
    parsed.reasoning_parser = parsers.reasoning or ""
    parsed.structured_outputs_config.reasoning_parser = parsers.reasoning or ""


def find_parsers(parsed: Namespace, settings: Settings) -> Parsers:
    config = AsyncEngineArgs.from_cli_args(parsed).create_model_config()
    tokenizer = cast(TokenizerLike, cached_tokenizer_from_config(model_config=config))
    guess = guess_parsers(config.hf_config.model_type, read_template(tokenizer, parsed.chat_template))
    named = settings.reasoning_parser if settings.reasoning_parser != NONE else None
    tools, reasonings = ToolParserManager.list_registered(), ReasoningParserManager.list_registered()
    beside = named if named in reasonings else None
    tool = Choice("spec.engine.toolCallParser", settings.tool_call_parser, guess.tool, tools).settle(
        lambda name: find_misfit(Parsers(name, beside), tokenizer)
    )
    reasoning = Choice("spec.engine.reasoningParser", settings.reasoning_parser, guess.reasoning, reasonings).settle(
        lambda name: find_misfit(Parsers(tool, name), tokenizer)
    )
    return Parsers(tool, reasoning)


def find_misfit(parsers: Parsers, tokenizer: TokenizerLike) -> str | None:
    """Why vLLM cannot use these parsers with a tokenizer."""
    try:
        ParserManager.get_parser(
            tool_parser_name=parsers.tool,
            reasoning_parser_name=parsers.reasoning,
            enable_auto_tools=parsers.tool is not None,
            tokenizer=tokenizer,
        )
    except Exception as cause:
        return f"{cause}"[:MAX_CAUSE]
    return None


def read_template(tokenizer: TokenizerLike, given: str | None) -> str:
    """The text that shows how the model writes calls. Empty if there is none."""
    if is_mistral_tokenizer(tokenizer):
        # It has no template. Its vocabulary has a token for each form that the model was taught.
        return " ".join(token for token in tokenizer.get_vocab() if token.startswith("["))
    try:
        if given is not None:
            return load_chat_template(given) or ""
        return cast(str, cast(object, tokenizer).get_chat_template(None, tools=[{}]))  # pyright: ignore
    except Exception:
        # A model that is not made for chats has no template.
        return ""

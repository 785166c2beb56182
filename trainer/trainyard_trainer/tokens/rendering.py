"""Conversations as the base model's chat template writes them: the same messages and settings for RL and SFT."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from transformers import BatchEncoding, PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import as_invalid_input, is_choice
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.chat_template import find_variables
from trainyard_trainer.tokens.harmony import is_harmony, render_harmony
from trainyard_trainer.tokens.messages import get_message, present_message, present_tool, shape_messages

# Characters of private use mark positions in a rendered text, because no template changes them.
MARK_OPEN, MARK_CLOSE = "\ue000", "\ue001"
# The limit of a conversation's text in UTF-8: about 500,000 tokens of prose. A tokenizer takes about 200 bytes of
# memory for each byte, and minutes for a few tens of megabytes.
MAX_TEXT_BYTES = 2 * 1024 * 1024
# Values of template variables that count as not set.
UNSET = (None, "auto")
# Variables that come from other members of a chat.
OWN_VARIABLES = {"messages", "tools", "add_generation_prompt", "continue_final_message"}


@dataclass(frozen=True)
class PromptOptions:
    """The members of a chat that change its prompt, besides its messages and tools."""

    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    documents: list[dict] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    add_special_tokens: bool = False


def render_prompt(
    messages: list[dict],
    tools: list[dict] | None,
    tokenizer: PreTrainedTokenizerBase,
    options: PromptOptions = PromptOptions(),
) -> list[int]:
    """The ids of the engine's prompt for the conversation before a sampled turn, as vLLM makes them.

    Of a sampled Choice, clients send its content and its calls in later turns. Templates that write the date write that
    of today.
    """
    if is_harmony(tokenizer):
        return render_harmony([get_message(item) for item in messages], tools, options.reasoning_effort)
    presented = [present_message(item) for item in messages]
    text = apply_template(presented, tools, tokenizer, lambda template: choose_variables(options, template))
    return encode(text, tokenizer, add_special_tokens=options.add_special_tokens)["input_ids"]


def choose_variables(options: PromptOptions, template: str) -> dict[str, Any]:
    """The variables that the engine passes to a template. A request cannot set others, and `messages` and `tools` are
    the conversation's own."""
    given = dict(options.chat_template_kwargs)
    if options.reasoning_effort is not None:
        given.setdefault("enable_thinking", options.reasoning_effort != "none")
        given["reasoning_effort"] = options.reasoning_effort
    if options.documents is not None:
        given["documents"] = options.documents
    known = (find_variables(template) | {"documents"}) - OWN_VARIABLES
    chosen = {name: value for name, value in given.items() if name in known and value not in UNSET}
    return chosen | {
        "add_generation_prompt": options.add_generation_prompt,
        "continue_final_message": options.continue_final_message,
    }


def render(
    messages: list[dict],
    tools: list[dict] | None,
    tokenizer: PreTrainedTokenizerBase,
    *,
    answering: bool = False,
    thinking: bool = False,
) -> str:
    """The text of presented messages. With `answering`, it includes what the template writes before an answer."""
    options = {"enable_thinking": thinking, "preserve_thinking": True}

    def choose(template: str) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name in template} | {
            "add_generation_prompt": answering
        }

    return apply_template(messages, tools, tokenizer, choose)


def apply_template(
    messages: list[dict],
    tools: list[dict] | None,
    tokenizer: PreTrainedTokenizerBase,
    choose: Callable[[str], dict[str, Any]],
) -> str:
    """The text of presented messages. `choose` returns the variables for the template."""
    try:
        template = tokenizer.get_chat_template(tools=tools)
        text = tokenizer.apply_chat_template(
            shape_messages(messages, template),
            tools=[present_tool(tool) for tool in tools] if tools else None,
            tokenize=False,
            **choose(template),
        )
    except Exception as cause:  # templates and jinja may raise anything
        reason = f"{cause}".rstrip(".") or type(cause).__name__
        raise InvalidInput(f"The chat template of the base model rejects this conversation: {reason}.") from cause
    return require_short(cast(str, text))


def require_short(text: str) -> str:
    if len(text) > MAX_TEXT_BYTES or len(text.encode(errors="surrogatepass")) > MAX_TEXT_BYTES:
        raise InvalidInput(
            f"A conversation has more than {MAX_TEXT_BYTES} bytes of text with its tools: make it shorter."
        )
    return text


def encode(
    text: str, tokenizer: PreTrainedTokenizerBase, *, add_special_tokens: bool = False, **options: Any
) -> BatchEncoding:
    """The tokens of a text. By default, special tokens only where the text names them."""
    try:
        return tokenizer(require_short(text), add_special_tokens=add_special_tokens, **options)
    except TypeError as cause:
        raise InvalidInput("The conversation contains an unpaired surrogate, which is not valid text.") from cause


def decode(ids: list[int], tokenizer: PreTrainedTokenizerBase) -> str:
    return cast(str, tokenizer.decode(ids))


def choose_mark(items: list[dict]) -> str:
    """A text that does not occur in the messages."""
    with as_invalid_input("The conversation"):
        text = json.dumps([item["message"] if is_choice(item) else item for item in items], ensure_ascii=False)
    number = 0
    while (mark := f"{MARK_OPEN}{number}{MARK_CLOSE}") in text:
        number += 1
    return mark

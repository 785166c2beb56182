"""Which settings of a request change the distribution that its tokens are sampled from."""

from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest

Request = ChatCompletionRequest | CompletionRequest

#: The settings with a default of the engine, and their values for the model's plain distribution.
PLAIN: dict[str, tuple[float, ...]] = {
    "temperature": (1,),
    "top_p": (1,),
    "top_k": (0, -1),
    "min_p": (0,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
}
# Their values may be long, so a reply only says that they were set.
OTHERS = ("logit_bias", "allowed_token_ids", "bad_words", "use_beam_search", "watermarking", "vllm_xargs")


def find_sampling(request: Request, defaults: dict[str, Any]) -> dict[str, Any]:
    """The settings that differ from plain sampling. `defaults` are the engine's, which the model's files can set."""
    found: dict[str, Any] = {}
    for name, plain in PLAIN.items():
        given = getattr(request, name)
        value = defaults.get(name, plain[0]) if given is None else given
        if value not in plain:
            found[name] = value
    if request.min_tokens:
        found["min_tokens"] = request.min_tokens
    # Zero is a budget too.
    if request.thinking_token_budget is not None:
        found["thinking_token_budget"] = request.thinking_token_budget
    found |= {name: True for name in OTHERS if getattr(request, name)}
    # For the tools of a chat, a parser has set this.
    if request.extract_structured_outputs() is not None:
        found["structured_outputs"] = True
    return found

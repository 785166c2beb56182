"""Writes the model's reasoning under both of its names.

vLLM writes `reasoning`. Older versions and other servers write `reasoning_content`, and many clients read only that.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.entrypoints.openai.chat_completion.protocol import ChatMessage

Serialize = Callable[[BaseModel, Any], dict[str, Any]]


def write_reasoning_content() -> None:
    """Changes how vLLM writes the messages of complete replies and of streams."""
    for message in (ChatMessage, DeltaMessage):
        serializers = message.__pydantic_decorators__.model_serializers
        decorator = serializers["_serialize"]
        serializers["_serialize"] = replace(decorator, func=extend(decorator.func))
        message.model_rebuild(force=True)


def extend(serialize: Serialize) -> Serialize:
    # Pydantic knows a method by the name of its first parameter.
    def write(self: BaseModel, handler: Any) -> dict[str, Any]:
        members = serialize(self, handler)
        if "reasoning" in members:
            members["reasoning_content"] = members["reasoning"]
        return members

    return write

"""The gateway decides of each member of a chat whether engines get it: none that vLLM knows may be missing there."""

import re
from pathlib import Path

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

TABLE = Path(__file__).parents[2] / "apiserver" / "gateway" / "chat-fields.ts"


def test_each_field_of_a_chat_is_decided():
    table, _ = TABLE.read_text().split("export const refusedArguments", 1)
    decided = set(re.findall(r"^  (\w+): ", table, re.MULTILINE))
    assert ChatCompletionRequest.model_fields.keys() - decided == set()

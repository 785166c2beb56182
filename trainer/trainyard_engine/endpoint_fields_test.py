"""The gateway decides of each member of a request whether engines get it: none that vLLM knows may be missing there."""

import re
from pathlib import Path

import pytest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.entrypoints.pooling.embed.protocol import (
    EmbeddingBatchChatRequest,
    EmbeddingChatRequest,
    EmbeddingCompletionRequest,
)
from vllm.entrypoints.serve.tokenize.protocol import DetokenizeRequest, TokenizeChatRequest, TokenizeCompletionRequest

GATEWAY = Path(__file__).parents[2] / "apiserver" / "inference"


def read_table(folder, name):
    text = (GATEWAY / folder / "fields.ts").read_text()
    table = text.split(f"export const {name}: Fields = {{", 1)[1].split("\n}", 1)[0]
    return set(re.findall(r"^  (\w+): ", table, re.MULTILINE))


@pytest.mark.parametrize(
    ("request_type", "folder", "name"),
    [
        (CompletionRequest, "completions", "completionFields"),
        (ResponsesRequest, "responses", "responseFields"),
        (TokenizeCompletionRequest, "tokens", "tokenizeFields"),
        (TokenizeChatRequest, "tokens", "tokenizeFields"),
        (DetokenizeRequest, "tokens", "detokenizeFields"),
        (EmbeddingCompletionRequest, "embeddings", "embeddingFields"),
        (EmbeddingChatRequest, "embeddings", "embeddingFields"),
        (EmbeddingBatchChatRequest, "embeddings", "embeddingFields"),
    ],
)
def test_each_field_is_decided(request_type, folder, name):
    assert request_type.model_fields.keys() - read_table(folder, name) == set()

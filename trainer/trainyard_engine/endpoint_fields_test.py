"""The gateway lists the members of requests that engines get. The list must contain every member that vLLM knows."""

import pytest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.entrypoints.pooling.embed.protocol import (
    EmbeddingBatchChatRequest,
    EmbeddingChatRequest,
    EmbeddingCompletionRequest,
)
from vllm.entrypoints.serve.tokenize.protocol import DetokenizeRequest, TokenizeChatRequest, TokenizeCompletionRequest

from testing.gateway_fields import read_fields


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
def test_each_field_is_declared(request_type, folder, name):
    assert request_type.model_fields.keys() - read_fields(f"{folder}/fields.ts", name) == set()

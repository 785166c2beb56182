"""The gateway lists the members of chats that engines get. The list must contain every member that vLLM knows."""

import re

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.renderers.chat_utils import MM_PARSER_MAP
from vllm.renderers.hf import _get_hf_base_chat_template_params

from testing.gateway_fields import GATEWAY, read_fields

CHAT_FIELDS = "chat/chat-fields.ts"


def test_each_field_of_a_chat_is_declared():
    assert ChatCompletionRequest.model_fields.keys() - read_fields(CHAT_FIELDS, "chatFields") == set()


def test_each_argument_of_a_template_is_declared():
    assert _get_hf_base_chat_template_params() - {"self"} - read_fields(CHAT_FIELDS, "templateFields") == set()


def test_each_type_of_a_part_is_declared():
    text = (GATEWAY / "chat" / "media.ts").read_text()
    accepted = set(re.findall(r"'(\w+)'", "".join(re.findall(r"^const (?:text|media)Types = .*$", text, re.MULTILINE))))
    tensors = {name for name in MM_PARSER_MAP if name.endswith("_embeds")}
    assert MM_PARSER_MAP.keys() - tensors - {"image_pil"} == accepted

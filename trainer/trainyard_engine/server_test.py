from pathlib import Path

import pytest

from trainyard_engine.arguments import build_arguments
from trainyard_engine.config import ConfigError, read_settings
from trainyard_engine.server import parse_arguments

ENV = {
    "TRAINYARD_MODEL": str(Path(__file__).parents[1] / "models" / "tiny-chat"),
    "TRAINYARD_MODEL_NAMES": "tiny",
    "TRAINYARD_ARTIFACTS": "/a",
    "VLLM_API_KEY": "k",
}
#: members that could let a request open an address or a file, or send a template, a tensor or code
TRUST = {
    "allowed_media_domains": ["media.invalid"],
    "allowed_local_media_path": "",
    "trust_request_chat_template": False,
    "trust_request_mm_kwargs": False,
    "enable_prompt_embeds": False,
    "trust_remote_code": False,
    "tool_server": None,
    "lora_modules": None,
    "kv_transfer_config": None,
    "ec_transfer_config": None,
}


def parse(*extra):
    return parse_arguments(build_arguments(read_settings(ENV), list(extra)))


def test_a_request_cannot_set_untrusted_members():
    parsed = parse()
    assert {name: getattr(parsed, name) for name in TRUST} == TRUST


@pytest.mark.parametrize(
    "extra", [("--ssl-certfile", "a"), ("--ssl-cert-reqs", "2"), ("--uds", "a"), ("--api-server-count", "2")]
)
def test_a_setting_that_changes_the_server_is_named(extra):
    with pytest.raises(ConfigError, match=f"{extra[0]} is not supported"):
        parse(*extra)

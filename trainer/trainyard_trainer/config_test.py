import pytest

from trainyard_base_model.lora import LoraSettings
from trainyard_trainer.config import ConfigError, read_settings

ENV = {
    "TRAINYARD_STATUS_URL": "http://127.0.0.1:8082/",
    "TRAINYARD_TOKEN_FILE": "/token",
    "TRAINYARD_BASE_MODEL": "trainyard/tiny-chat",
    "TRAINYARD_MODEL": "models/tiny-chat",
    "TRAINYARD_ARTIFACTS": "/artifacts",
}


def test_settings_and_their_defaults():
    settings = read_settings(ENV)
    assert (settings.status_url, settings.artifacts.address) == ("http://127.0.0.1:8082", "/artifacts")
    assert settings.max_sequence_length == 32_768
    assert settings.lora == LoraSettings(8, 16)


def test_lora_settings_of_the_base_model():
    settings = read_settings(ENV | {"TRAINYARD_LORA": '{"rank": 4, "alpha": null, "target_modules": ["q_proj"]}'})
    assert settings.lora == LoraSettings(4, 16, ("q_proj",))


@pytest.mark.parametrize("name", list(ENV))
def test_a_missing_variable_is_named(name):
    with pytest.raises(ConfigError, match=name):
        read_settings({key: value for key, value in ENV.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRAINYARD_MAX_SEQUENCE_LENGTH", "long"),
        ("TRAINYARD_LORA", "[]"),
        ("TRAINYARD_LORA", '{"rank": 0}'),
        ("TRAINYARD_LORA", '{"target_modules": []}'),
    ],
)
def test_a_wrong_variable_is_named(name, value):
    with pytest.raises(ConfigError, match=name):
        read_settings(ENV | {name: value})

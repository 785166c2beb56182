import pytest

from trainyard_engine.arguments import build_arguments
from trainyard_engine.config import ConfigError, leave_hub, prepare_environment, read_settings

ENV = {
    "TRAINYARD_MODEL": "models/tiny-chat",
    "TRAINYARD_MODEL_NAMES": "a/b, c",
    "TRAINYARD_ARTIFACTS": "/artifacts",
    "VLLM_API_KEY": "a key",
}


def test_arguments_of_the_server():
    settings = read_settings(ENV | {"TRAINYARD_HOST": "127.0.0.9", "TRAINYARD_MAX_LORA_RANK": "20"})
    assert build_arguments(settings, ["--dtype", "float32"]) == [
        "--model", "models/tiny-chat", "--host", "127.0.0.9", "--port", "8000",
        "--enable-lora", "--max-loras", "4", "--max-cpu-loras", "32", "--max-lora-rank", "32",
        "--allowed-media-domains", "media.invalid", "--disable-fastapi-docs",
        "--enable-prompt-tokens-details",
        "--logprobs-mode",
        "processed_logprobs",
        "--worker-extension-cls", "trainyard_engine.worker.WorkerExtension",
        "--scheduler-cls", "trainyard_engine.scheduler.build_scheduler",
        "--shutdown-timeout", "30",
        "--dtype", "float32", "--served-model-name", "a/b", "c",
    ]  # fmt: skip


@pytest.mark.parametrize("name", list(ENV))
def test_a_missing_variable_is_named(name):
    with pytest.raises(ConfigError, match=name):
        read_settings({key: value for key, value in ENV.items() if key != name})


@pytest.mark.parametrize(
    ("previous", "keys"), [({}, ("a key",)), ({"TRAINYARD_PREVIOUS_ENGINE_KEY": "before"}, ("a key", "before"))]
)
def test_the_previous_key_is_taken_too(previous, keys):
    assert read_settings(ENV | previous).keys == keys


def test_a_wrong_number_is_named_and_not_shown():
    with pytest.raises(ConfigError, match="TRAINYARD_PORT must be") as caught:
        read_settings(ENV | {"TRAINYARD_PORT": "secret"})
    assert "secret" not in str(caught.value)


def test_the_environment_disables_reports_of_vllm_unless_the_admin_enables_them():
    env = {"HF_HUB_OFFLINE": "0"}
    prepare_environment(read_settings(ENV), env)
    assert env["VLLM_NO_USAGE_STATS"] == "1"
    assert env["HF_HUB_OFFLINE"] == "0"


def test_no_name_is_looked_up_on_a_hub_after_the_model_is_loaded(monkeypatch):
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    env = {"HF_HUB_OFFLINE": "0"}
    leave_hub(env)
    assert env == {"HF_HUB_OFFLINE": "1"}
    with pytest.raises(LocalEntryNotFoundError, match=r"outgoing traffic has been disabled|HF_HUB_OFFLINE"):
        snapshot_download("nobody/nothing")


def test_a_wrong_adapter_setting_is_named():
    with pytest.raises(ConfigError, match="TRAINYARD_LORA"):
        read_settings(ENV | {"TRAINYARD_LORA": '{"rank": 0}'})

"""Settings of the engine process. Only this module reads and prepares the environment."""

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from trainyard_artifacts.settings import StoreSettings, StoreSettingsError, read_store_settings
from trainyard_base_model import lora
from trainyard_base_model.bucket_model import BucketModel, is_bucket_model, read_bucket_model
from trainyard_base_model.device_turns import SOCKET_VARIABLE
from trainyard_base_model.lora import LoraSettings
from trainyard_base_model.progress_reports import StatusServer

DEFAULT_PORT = 8000
# If both have work, engine and trainer have the device once in this time. On a GPU, some seconds are lost each time.
DEFAULT_TURNS_SECONDS = 20
DEFAULT_TRAINER_TIME_PERCENT = 50


class ConfigError(Exception):
    """A variable is missing or wrong. The message names the variable, never its value."""


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    metrics_port: int
    model: str
    model_revision: str | None
    model_names: tuple[str, ...]
    artifacts: StoreSettings
    #: what callers may authenticate with, the current key first; the previous one ends with a later restart
    keys: tuple[str, ...]
    max_loras: int
    max_cpu_loras: int
    max_lora_rank: int
    #: the adapters that trainers write for this base model
    lora: LoraSettings
    max_model_len: int | None
    #: names of vLLM's parsers; "none" for no parser, None for the one that fits the model
    tool_call_parser: str | None
    reasoning_parser: str | None
    #: how long responses may take to end after SIGTERM
    drain_seconds: int
    #: where the engine asks which adapters to load at its start; None for none
    status_url: str | None
    token_file: Path | None
    #: if the model is a folder in a bucket
    bucket_model: BucketModel | None = None
    #: where the trainer of this pod asks for the device; None if the engine has it alone
    device_socket: Path | None = None
    turns_seconds: int = DEFAULT_TURNS_SECONDS
    trainer_time_percent: int = DEFAULT_TRAINER_TIME_PERCENT

    @property
    def status_server(self) -> StatusServer | None:
        if self.status_url is None or self.token_file is None:
            return None
        return StatusServer(self.status_url, self.token_file)


def read_settings(env: Mapping[str, str] = os.environ) -> Settings:
    names = tuple(name.strip() for name in require(env, "TRAINYARD_MODEL_NAMES").split(",") if name.strip())
    if not names:
        raise ConfigError("TRAINYARD_MODEL_NAMES must hold at least one name")
    port = read_number(env, "TRAINYARD_PORT", DEFAULT_PORT)
    return Settings(
        host=env.get("TRAINYARD_HOST") or "0.0.0.0",
        port=port,
        metrics_port=read_number(env, "TRAINYARD_METRICS_PORT", port + 1),
        model=require(env, "TRAINYARD_MODEL"),
        model_revision=env.get("TRAINYARD_MODEL_REVISION") or None,
        model_names=names,
        artifacts=read_artifacts(env),
        keys=read_keys(env),
        max_loras=read_number(env, "TRAINYARD_MAX_LORAS", 4),
        max_cpu_loras=read_number(env, "TRAINYARD_MAX_CPU_LORAS", 32),
        max_lora_rank=read_number(env, "TRAINYARD_MAX_LORA_RANK", 16),
        lora=read_lora(env),
        max_model_len=read_number(env, "TRAINYARD_MAX_MODEL_LEN", None),
        tool_call_parser=env.get("TRAINYARD_TOOL_CALL_PARSER") or None,
        reasoning_parser=env.get("TRAINYARD_REASONING_PARSER") or None,
        drain_seconds=read_number(env, "TRAINYARD_DRAIN_SECONDS", 30),
        status_url=env.get("TRAINYARD_STATUS_URL") or None,
        token_file=Path(env["TRAINYARD_TOKEN_FILE"]) if env.get("TRAINYARD_TOKEN_FILE") else None,
        bucket_model=read_bucket_model(require(env, "TRAINYARD_MODEL"), env),
        device_socket=Path(env[SOCKET_VARIABLE]) if env.get(SOCKET_VARIABLE) else None,
        turns_seconds=read_number(env, "TRAINYARD_TURNS_SECONDS", DEFAULT_TURNS_SECONDS),
        trainer_time_percent=read_number(env, "TRAINYARD_TRAINER_TIME_PERCENT", DEFAULT_TRAINER_TIME_PERCENT),
    )


def read_keys(env: Mapping[str, str]) -> tuple[str, ...]:
    previous = env.get("TRAINYARD_PREVIOUS_ENGINE_KEY")
    return (require(env, "VLLM_API_KEY"), *([previous] if previous else []))


def prepare_environment(settings: Settings, env: MutableMapping[str, str] = os.environ) -> None:
    """Sets the variables that vLLM reads during its import."""
    env["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "True"  # vLLM only uses resolvers with this
    env.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
    # The scheduler ends requests whose logits are not finite.
    env["VLLM_COMPUTE_NANS_IN_LOGITS"] = "1"
    # vLLM must not report usage statistics.
    env.setdefault("VLLM_NO_USAGE_STATS", "1")
    env.setdefault("DO_NOT_TRACK", "1")
    # vLLM does not open media addresses of requests. If an administrator allows some, redirects must not lead
    # elsewhere.
    env.setdefault("VLLM_MEDIA_URL_ALLOW_REDIRECTS", "0")
    if is_bucket_model(settings.model) or Path(settings.model).is_dir():
        env.setdefault("HF_HUB_OFFLINE", "1")


def leave_hub(env: MutableMapping[str, str] = os.environ) -> None:
    """Disables lookups on the model hub for all later names. The base model is loaded already."""
    # Imported late: the import reads the environment.
    from huggingface_hub import constants

    env["HF_HUB_OFFLINE"] = "1"
    constants.HF_HUB_OFFLINE = True


def read_artifacts(env: Mapping[str, str]) -> StoreSettings:
    try:
        return read_store_settings(env)
    except StoreSettingsError as cause:
        raise ConfigError(str(cause)) from cause


def read_lora(env: Mapping[str, str]) -> LoraSettings:
    try:
        return lora.read_lora(env)
    except ValueError as cause:
        raise ConfigError(str(cause)) from cause


def require(env: Mapping[str, str], name: str) -> str:
    if value := env.get(name):
        return value
    raise ConfigError(f"{name} must be set")


Default = TypeVar("Default", int, None)


def read_number(env: Mapping[str, str], name: str, default: Default) -> int | Default:
    text = env.get(name)
    if not text:
        return default
    if not text.isdigit() or int(text) < 1:
        raise ConfigError(f"{name} must be a positive number")
    return int(text)

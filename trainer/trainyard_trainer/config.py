"""Settings of the trainer process. Only this module reads its environment."""

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from trainyard_artifacts.settings import StoreSettings, StoreSettingsError, read_store_settings
from trainyard_base_model import lora
from trainyard_base_model.bucket_model import BucketModel, is_bucket_model, read_bucket_model
from trainyard_base_model.device_turns import SOCKET_VARIABLE
from trainyard_base_model.lora import LoraSettings

DEFAULT_MAX_SEQUENCE_LENGTH = 32_768
DEFAULT_MAX_JOBS = 4
# Which jobs may share a pass.
OFF, SAME_ENTITY, ANY = "Off", "SameEntity", "Any"
# How often the progress of a running job is saved, and how long saving may take when the trainer ends.
DEFAULT_SAVE_SECONDS = 60.0
DEFAULT_GRACE_SECONDS = 25.0


class ConfigError(Exception):
    """A variable is missing or wrong. The message names the variable, never its value."""


@dataclass(frozen=True)
class Settings:
    status_url: str
    token_file: Path
    base_model: str
    model_path: str
    artifacts: StoreSettings
    max_sequence_length: int
    lora: LoraSettings
    model_revision: str | None = None
    # If the model is a folder in a bucket.
    bucket_model: BucketModel | None = None
    trust_remote_code: bool = False
    max_batch_tokens: int | None = None
    max_jobs: int = DEFAULT_MAX_JOBS
    co_batch: str = OFF
    save_seconds: float = DEFAULT_SAVE_SECONDS
    grace_seconds: float = DEFAULT_GRACE_SECONDS
    # Is there while the trainer can claim jobs.
    ready_file: Path | None = None
    # The only job that this process claims. It ends with that job. By default it claims jobs until it is stopped.
    job_id: str | None = None
    # Where the engine of this pod lends its device. None if the trainer has a device of its own.
    device_socket: Path | None = None
    # Where metrics are served, if anywhere.
    metrics_address: tuple[str, int] | None = None
    # Set by torchrun: the number of this process, and the number of processes.
    rank: int = 0
    num_processes: int = 1


def read_settings(env: Mapping[str, str] = os.environ) -> Settings:
    return Settings(
        status_url=require(env, "TRAINYARD_STATUS_URL").rstrip("/"),
        token_file=Path(require(env, "TRAINYARD_TOKEN_FILE")),
        base_model=require(env, "TRAINYARD_BASE_MODEL"),
        model_path=require(env, "TRAINYARD_MODEL"),
        artifacts=read_artifacts(env),
        max_sequence_length=read_count(env, "TRAINYARD_MAX_SEQUENCE_LENGTH") or DEFAULT_MAX_SEQUENCE_LENGTH,
        lora=read_lora(env),
        model_revision=env.get("TRAINYARD_MODEL_REVISION") or None,
        bucket_model=read_bucket_model(require(env, "TRAINYARD_MODEL"), env),
        trust_remote_code=read_choice(env, "TRAINYARD_TRUST_REMOTE_CODE", ("false", "true")) == "true",
        max_batch_tokens=read_count(env, "TRAINYARD_MAX_BATCH_TOKENS"),
        max_jobs=read_count(env, "TRAINYARD_MAX_JOBS") or DEFAULT_MAX_JOBS,
        co_batch=read_choice(env, "TRAINYARD_CO_BATCH", (OFF, SAME_ENTITY, ANY)),
        save_seconds=read_seconds(env, "TRAINYARD_SAVE_SECONDS", DEFAULT_SAVE_SECONDS),
        grace_seconds=read_seconds(env, "TRAINYARD_GRACE_SECONDS", DEFAULT_GRACE_SECONDS),
        ready_file=Path(env["TRAINYARD_READY_FILE"]) if env.get("TRAINYARD_READY_FILE") else None,
        job_id=env.get("TRAINYARD_JOB_ID") or None,
        device_socket=Path(env[SOCKET_VARIABLE]) if env.get(SOCKET_VARIABLE) else None,
        metrics_address=read_metrics_address(env),
        rank=int(env.get("RANK", "0")),
        num_processes=read_count(env, "WORLD_SIZE") or 1,
    )


def prepare_environment(settings: Settings, env: MutableMapping[str, str] = os.environ) -> None:
    """Sets the variables that Hugging Face's libraries read during their import."""
    env.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if is_bucket_model(settings.model_path) or Path(settings.model_path).is_dir():
        env.setdefault("HF_HUB_OFFLINE", "1")


def require(env: Mapping[str, str], name: str) -> str:
    if value := env.get(name):
        return value
    raise ConfigError(f"{name} must be set")


def read_artifacts(env: Mapping[str, str]) -> StoreSettings:
    try:
        return read_store_settings(env)
    except StoreSettingsError as cause:
        raise ConfigError(str(cause)) from cause


def read_count(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"{name} must be a positive whole number")
    return int(text)


def read_metrics_address(env: Mapping[str, str]) -> tuple[str, int] | None:
    port = read_count(env, "TRAINYARD_METRICS_PORT")
    return None if port is None else (require(env, "TRAINYARD_HOST"), port)


def read_seconds(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name)
    if not text:
        return default
    if not text.isdecimal():
        raise ConfigError(f"{name} must be a number of seconds")
    return float(text)


def read_choice(env: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """The first choice is the default."""
    text = env.get(name) or choices[0]
    if text not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}")
    return text


def read_lora(env: Mapping[str, str]) -> LoraSettings:
    try:
        return lora.read_lora(env)
    except ValueError as cause:
        raise ConfigError(str(cause)) from cause

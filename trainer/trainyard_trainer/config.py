"""Settings of the trainer process: the one place that reads its environment."""

import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from trainyard_artifacts.settings import StoreSettings, StoreSettingsError, read_store_settings

# ART's defaults, which clients expect when the base model names none.
DEFAULT_LORA = {
    "rank": 8,
    "alpha": 16,
    "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
}
DEFAULT_MAX_SEQUENCE_LENGTH = 32_768


class ConfigError(Exception):
    """A variable is missing or wrong; names the variable, never its value."""


@dataclass(frozen=True)
class LoraSettings:
    rank: int
    alpha: int
    target_modules: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    status_url: str
    token_file: Path
    base_model: str
    model_path: str
    artifacts: StoreSettings
    max_sequence_length: int
    lora: LoraSettings


def read_settings(env: Mapping[str, str] = os.environ) -> Settings:
    return Settings(
        status_url=require(env, "TRAINYARD_STATUS_URL").rstrip("/"),
        token_file=Path(require(env, "TRAINYARD_TOKEN_FILE")),
        base_model=require(env, "TRAINYARD_BASE_MODEL"),
        model_path=require(env, "TRAINYARD_MODEL"),
        artifacts=read_artifacts(env),
        max_sequence_length=read_length(env),
        lora=read_lora(env),
    )


def prepare_environment(settings: Settings, env: MutableMapping[str, str] = os.environ) -> None:
    """What Hugging Face's libraries read from the environment; set before they are imported."""
    env.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if Path(settings.model_path).is_dir():
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


def read_length(env: Mapping[str, str]) -> int:
    text = env.get("TRAINYARD_MAX_SEQUENCE_LENGTH") or str(DEFAULT_MAX_SEQUENCE_LENGTH)
    if not text.isdigit() or int(text) < 1:
        raise ConfigError("TRAINYARD_MAX_SEQUENCE_LENGTH must be a positive number of tokens")
    return int(text)


def read_lora(env: Mapping[str, str]) -> LoraSettings:
    """TRAINYARD_LORA is JSON; absent members take ART's defaults."""
    try:
        given = json.loads(env.get("TRAINYARD_LORA") or "{}")
        lora = DEFAULT_LORA | {key: value for key, value in given.items() if value is not None}
        settings = LoraSettings(int(lora["rank"]), int(lora["alpha"]), tuple(lora["target_modules"]))
    except (ValueError, TypeError, AttributeError) as cause:
        raise ConfigError("TRAINYARD_LORA must be a JSON object of rank, alpha and target_modules") from cause
    if settings.rank < 1 or settings.alpha < 1 or not settings.target_modules:
        raise ConfigError("TRAINYARD_LORA: rank and alpha must be positive, target_modules not empty")
    return settings

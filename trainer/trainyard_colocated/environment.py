"""A container has one environment. Variables with a prefix are those of the trainer."""

from collections.abc import Mapping

TRAINER_PREFIX = "TRAINER_ENV_"
# Gateways send the keys to the engine. The trainer reads data of tenants, and has no use for them.
ENGINE_KEYS = ("VLLM_API_KEY", "TRAINYARD_PREVIOUS_ENGINE_KEY")


def select_engine_env(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if not name.startswith(TRAINER_PREFIX)}


def select_trainer_env(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of the engine apply to the trainer too, if it has none of the same name."""
    common = {name: value for name, value in select_engine_env(env).items() if name not in ENGINE_KEYS}
    own = {name.removeprefix(TRAINER_PREFIX): value for name, value in env.items() if name.startswith(TRAINER_PREFIX)}
    return common | own

"""The settings of an RL job: the clients' `experimental_config`, with defaults."""

from trainyard_trainer.data.setting_checks import check_settings
from trainyard_trainer.rl.settings import ALIASES, CHECKS, RlConfig


def parse_config(given: dict[str, object]) -> RlConfig:
    """An absent epsilon depends on `ppo`, as in ART. InvalidInput names a setting with a wrong value."""
    named = {ALIASES.get(name, name): value for name, value in given.items() if value is not None}
    known = check_settings(named, CHECKS, "experimental_config")
    if known.get("ppo"):
        known.setdefault("epsilon", 0.2)
        known.setdefault("epsilon_high", known["epsilon"])
    return RlConfig(**known)

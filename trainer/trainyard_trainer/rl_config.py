"""The settings of an RL job: what clients send as `experimental_config`, with its defaults."""

import math
from dataclasses import dataclass

from trainyard_trainer.failures import InvalidInput

LEVELS = ("token", "sequence", "average", "geometric_average")


@dataclass(frozen=True)
class RlConfig:
    """ART's fields under ART's names. An absent epsilon depends on `ppo`: see `parse_config`."""

    learning_rate: float = 5e-6
    advantage_balance: float = 0.0
    scale_rewards: bool = True
    importance_sampling_level: str = "token"
    ppo: bool = False
    epsilon: float = 1.0
    epsilon_high: float = 4.0
    mask_prob_ratio: bool = False
    max_negative_advantage_importance_sampling_weight: float | None = None
    kimi_k2_tau: float | None = None
    precalculate_logprobs: bool = False


def parse_config(given: dict) -> RlConfig:
    """Nulls count as absent, unknown names are passed over; InvalidInput names a field of a wrong kind."""
    known = {name: value for name, value in given.items() if value is not None and name in FIELD_CHECKS}
    for name, value in known.items():
        is_right, wanted = FIELD_CHECKS[name]
        if not is_right(value):
            raise InvalidInput(f"experimental_config.{name} must be {wanted}.", "InvalidConfig")
    if known.get("ppo"):
        known.setdefault("epsilon", 0.2)
        known.setdefault("epsilon_high", known["epsilon"])
    return RlConfig(**known)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


NUMBER = (is_number, "a finite number")
NOT_NEGATIVE = (lambda value: is_number(value) and value >= 0, "a number of at least 0")
FLAG = (lambda value: isinstance(value, bool), "true or false")
FIELD_CHECKS = {
    "learning_rate": NOT_NEGATIVE,
    "advantage_balance": (lambda value: is_number(value) and -1 <= value <= 1, "a number from -1 to 1"),
    "scale_rewards": FLAG,
    "importance_sampling_level": (lambda value: value in LEVELS, f"one of {', '.join(LEVELS)}"),
    "ppo": FLAG,
    "epsilon": NOT_NEGATIVE,
    "epsilon_high": NOT_NEGATIVE,
    "mask_prob_ratio": FLAG,
    "max_negative_advantage_importance_sampling_weight": NUMBER,
    "kimi_k2_tau": NUMBER,
    "precalculate_logprobs": FLAG,
}

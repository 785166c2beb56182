"""The settings of an RL job: what clients send as `experimental_config`, with its defaults."""

from dataclasses import dataclass

from trainyard_trainer.data.json_input import is_learning_rate, is_number
from trainyard_trainer.failures import InvalidInput

# Another name that the interface has for the same field.
ALIASES = {"modelfamily_k2_tau": "kimi_k2_tau"}
LEVELS = ("token", "sequence", "average", "geometric_average")


@dataclass(frozen=True)
class RlConfig:
    """ART's fields under ART's names. An absent epsilon depends on `ppo`: see `parse_config`.

    The last four are extras, which the hosted service does not have.
    """

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
    kl_penalty_coef: float = 0.0
    kl_penalty_reference_step: int | None = None
    truncated_importance_sampling: float | None = None
    allow_training_without_logprobs: bool = False


def parse_config(given: dict) -> RlConfig:
    """Nulls count as absent, unknown names are passed over; InvalidInput names a field of a wrong kind."""
    named = {ALIASES.get(name, name): value for name, value in given.items() if value is not None}
    known = {name: value for name, value in named.items() if name in FIELD_CHECKS}
    for name, value in known.items():
        is_right, wanted = FIELD_CHECKS[name]
        if not is_right(value):
            raise InvalidInput(f"experimental_config.{name} must be {wanted}.", "InvalidConfig")
    if known.get("ppo"):
        known.setdefault("epsilon", 0.2)
        known.setdefault("epsilon_high", known["epsilon"])
    return RlConfig(**known)


NOT_NEGATIVE = (lambda value: is_number(value) and 0 <= value <= 1_000_000, "a number from 0 to 1000000")
FLAG = (lambda value: isinstance(value, bool), "true or false")
FIELD_CHECKS = {
    "learning_rate": (is_learning_rate, "a number from 0 to 1"),
    "advantage_balance": (lambda value: is_number(value) and -1 <= value <= 1, "a number from -1 to 1"),
    "scale_rewards": FLAG,
    "importance_sampling_level": (lambda value: value in LEVELS, f"one of {', '.join(LEVELS)}"),
    "ppo": FLAG,
    "epsilon": NOT_NEGATIVE,
    "epsilon_high": NOT_NEGATIVE,
    "mask_prob_ratio": FLAG,
    "max_negative_advantage_importance_sampling_weight": NOT_NEGATIVE,
    "kimi_k2_tau": NOT_NEGATIVE,
    "precalculate_logprobs": FLAG,
    "kl_penalty_coef": NOT_NEGATIVE,
    # Which checkpoint that is stands in the claim.
    "kl_penalty_reference_step": (lambda value: is_number(value) and value == int(value) >= 0, "a step of the model"),
    "truncated_importance_sampling": NOT_NEGATIVE,
    "allow_training_without_logprobs": FLAG,
}

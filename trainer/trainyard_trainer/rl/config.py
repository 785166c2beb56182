"""The settings of an RL job: the clients' `experimental_config`, with defaults."""

from trainyard_trainer.data.setting_checks import check_settings
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.rl.settings import ALIASES, CHECKS, RlConfig


def parse_config(given: dict[str, object]) -> RlConfig:
    """An absent epsilon depends on the loss, as in ART. InvalidInput names a setting with a wrong value, or two that
    contradict each other."""
    named = {ALIASES.get(name, name): value for name, value in given.items() if value is not None}
    known = check_settings(named, CHECKS, "experimental_config")
    require_one_loss(known)
    if known.get("loss_fn") == "ppo" or known.get("ppo"):
        known.setdefault("epsilon", 0.2)
        known.setdefault("epsilon_high", known["epsilon"])
    return RlConfig(**known)


def require_one_loss(known: dict) -> None:
    if "loss_fn" in known and "ppo" in known and (known["loss_fn"] == "ppo") != known["ppo"]:
        raise InvalidInput(
            f"experimental_config.loss_fn is {known['loss_fn']}, and ppo is {str(known['ppo']).lower()}: send one of "
            "them, or both with the same meaning.",
            "InvalidConfig",
        )


def uses_ppo(config: RlConfig) -> bool:
    """`loss_fn` and `ppo` are two names of one choice."""
    return config.ppo or config.loss_fn == "ppo"


def scales_advantages(config: RlConfig) -> bool:
    """`scale_rewards` and `normalize_advantages` are two names of one choice. Either one turns it off."""
    return config.scale_rewards and config.normalize_advantages

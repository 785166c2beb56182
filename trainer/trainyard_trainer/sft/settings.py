"""The settings of SFT. Generated from crds/training-settings/settings.yaml by "npm run gen": do not edit."""

from dataclasses import dataclass

from trainyard_trainer.data.setting_checks import (
    SettingCheck,
    check_choice,
    check_integer,
    check_number_or_list,
)

ASSISTANT_TURNS = ("all", "last")


@dataclass(frozen=True)
class SftConfig:
    # How many rows a batch has.
    batch_size: int = 2
    # The learning rate of AdamW. A list has a rate for each batch; rates beyond the last batch are ignored.
    learning_rate: float | list[float] = 5e-5
    # Which turns of the assistant are trained: all, or only the last message of each row, which must then be one of the
    # assistant.
    assistant_turns: str = "all"


CHECKS: dict[str, SettingCheck] = {
    "batch_size": check_integer(1, 100_000),
    "learning_rate": check_number_or_list(0, 1, 1, 20_000),
    "assistant_turns": check_choice(ASSISTANT_TURNS),
}

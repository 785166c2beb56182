"""The settings of an SFT job: the clients' `config`, with defaults."""

from trainyard_trainer.data.setting_checks import check_settings
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.settings import CHECKS, SftConfig


def parse_sft_config(given: dict[str, object]) -> SftConfig:
    """InvalidInput names a setting with a wrong value."""
    return SftConfig(**check_settings(given, CHECKS, "config"))


def list_rates(config: SftConfig, num_batches: int) -> list[float]:
    """The learning rate of each batch that is trained; rates beyond the last one are ignored."""
    rates = config.learning_rate
    if not isinstance(rates, list):
        return [rates] * num_batches
    if len(rates) < num_batches:
        raise InvalidInput(
            f"config.learning_rate has {len(rates)} rates, but the training data has {num_batches} batches of "
            f"{config.batch_size} rows with something to train: send one rate for each batch.",
            "TooFewLearningRates",
        )
    return rates[:num_batches]

"""The settings of an SFT job: what clients send as `config`, with its defaults."""

from dataclasses import dataclass

from trainyard_trainer.data.json_input import is_learning_rate, is_number
from trainyard_trainer.failures import InvalidInput


@dataclass(frozen=True)
class SftConfig:
    """ART's fields under ART's names. A list of rates holds one for each batch."""

    batch_size: int = 2
    learning_rate: float | list[float] = 5e-5

    def list_rates(self, num_batches: int) -> list[float]:
        """The rate of each batch; rates beyond the last batch are passed over."""
        if not isinstance(self.learning_rate, list):
            return [self.learning_rate] * num_batches
        if len(self.learning_rate) < num_batches:
            raise InvalidInput(
                f"config.learning_rate has {len(self.learning_rate)} rates, but the training data makes "
                f"{num_batches} batches of {self.batch_size}: there must be a rate for each batch.",
                "TooFewLearningRates",
            )
        return self.learning_rate[:num_batches]


def parse_sft_config(given: dict) -> SftConfig:
    """Nulls count as absent, unknown names are passed over; InvalidInput names a field of a wrong kind."""
    known = {name: given[name] for name in ("batch_size", "learning_rate") if given.get(name) is not None}
    size = known.get("batch_size", 1)
    if not is_number(size) or size < 1 or size != int(size):
        raise InvalidInput("config.batch_size must be a whole number of at least 1.", "InvalidConfig")
    rates = known.get("learning_rate", [])
    if not all(is_learning_rate(rate) for rate in (rates if isinstance(rates, list) else [rates])):
        message = "config.learning_rate must be a number from 0 to 1, or a list of such numbers."
        raise InvalidInput(message, "InvalidConfig")
    return SftConfig(**known | ({"batch_size": int(size)} if "batch_size" in known else {}))

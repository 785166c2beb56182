import pytest

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.config import list_rates, parse_sft_config
from trainyard_trainer.sft.settings import SftConfig


@pytest.mark.parametrize(
    ("given", "config"),
    [
        ({}, SftConfig(2, 5e-5)),
        ({"batch_size": None, "learning_rate": None, "from_the_future": 1}, SftConfig(2, 5e-5)),
        ({"batch_size": 4, "learning_rate": 1e-4}, SftConfig(4, 1e-4)),
        ({"assistant_turns": "last"}, SftConfig(assistant_turns="last")),
        ({"batch_size": 1.0, "learning_rate": [1e-4, 0]}, SftConfig(1, [1e-4, 0])),
    ],
)
def test_settings_and_their_defaults(given, config):
    assert parse_sft_config(given) == config


def test_the_rates_of_batches():
    assert list_rates(SftConfig(2, 1e-4), 3) == [1e-4] * 3
    assert list_rates(SftConfig(2, [0.3, 0.2, 0.1]), 2) == [0.3, 0.2]
    with pytest.raises(InvalidInput, match="has 2 rates, but the training data has 3 batches") as caught:
        list_rates(SftConfig(2, [0.3, 0.2]), 3)
    assert caught.value.reason == "TooFewLearningRates"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("batch_size", value) for value in (0, 1.5, True, "2", [2])),
        *(("assistant_turns", value) for value in ("first", 1, [], True)),
        *(("learning_rate", value) for value in (-1, 1.1, "fast", True, {}, [1e-4, None], [-1], 10**400)),
    ],
)
def test_a_wrong_value_names_its_field(name, value):
    with pytest.raises(InvalidInput, match=f"config.{name} must be"):
        parse_sft_config({name: value})

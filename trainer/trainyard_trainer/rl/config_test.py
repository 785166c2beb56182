import pytest

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.settings import RlConfig


def test_nulls_and_unknown_names_leave_the_defaults():
    given = {"epsilon": None, "epsilon_high": None, "learning_rate": None, "ppo": False, "from_the_future": 1}
    assert parse_config(given) == RlConfig()


@pytest.mark.parametrize(
    ("given", "epsilon", "high"),
    [
        ({}, 1.0, 4.0),
        ({"ppo": True}, 0.2, 0.2),
        ({"ppo": True, "epsilon": 0.1}, 0.1, 0.1),
        ({"epsilon": 0.1}, 0.1, 4.0),
        ({"ppo": True, "epsilon_high": 0.4}, 0.2, 0.4),
    ],
)
def test_the_clip_range_depends_on_ppo(given, epsilon, high):
    config = parse_config(given)
    assert (config.epsilon, config.epsilon_high) == (epsilon, high)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", "fast"),
        ("learning_rate", -1),
        ("learning_rate", 2),
        ("learning_rate", 10**400),
        ("kimi_k2_tau", 1e308),
        ("modelfamily_k2_tau", -1),
        ("max_negative_advantage_importance_sampling_weight", -1),
        ("advantage_balance", 2),
        ("importance_sampling_level", "word"),
        ("ppo", 1),
        ("epsilon", True),
    ],
)
def test_a_wrong_value_names_its_field(name, value):
    with pytest.raises(InvalidInput, match=f"experimental_config.{name.replace('modelfamily', 'kimi')} must be"):
        parse_config({name: value})


def test_every_field_of_the_interface_is_honoured():
    given = {
        "advantage_balance": 0.5,
        "epsilon": 0.1,
        "epsilon_high": 0.3,
        "importance_sampling_level": "sequence",
        "modelfamily_k2_tau": 0.2,
        "learning_rate": 1e-4,
        "mask_prob_ratio": True,
        "max_negative_advantage_importance_sampling_weight": 2.0,
        "ppo": True,
        "precalculate_logprobs": True,
        "scale_rewards": False,
    }
    expected = {("kimi_k2_tau" if name == "modelfamily_k2_tau" else name): value for name, value in given.items()}
    assert parse_config(given) == RlConfig(**expected)

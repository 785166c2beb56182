import pytest

from trainyard_trainer.data import setting_checks
from trainyard_trainer.data.setting_checks import check_settings
from trainyard_trainer.failures import InvalidInput

CHECKS = {
    "number": setting_checks.check_number(-1, 1),
    "integer": setting_checks.check_integer(1, 100),
    "rates": setting_checks.check_number_or_list(0, 1, 1, 3),
    "flag": setting_checks.check_flag(),
    "level": setting_checks.check_choice(("token", "sequence")),
}


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({}, {}),
        ({"number": None, "later": 1}, {}),
        ({"number": -1, "flag": False, "level": "token"}, None),
        ({"integer": 100.0}, {"integer": 100}),
        ({"rates": 0}, None),
        ({"rates": [0, 0.5, 1]}, None),
    ],
)
def test_settings_within_their_bounds(given, known):
    assert check_settings(given, CHECKS, "config") == (given if known is None else known)


def test_a_whole_number_is_an_int():
    assert isinstance(check_settings({"integer": 2.0}, CHECKS, "config")["integer"], int)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("number", [1.1, -1.1, "1", True, [0]], "a number from -1 to 1"),
        ("integer", [0, 101, 1.5, "2"], "a whole number from 1 to 100"),
        ("rates", [2, [], [2], [0] * 4, [None]], "a number from 0 to 1, or a list of 1 to 3 such numbers"),
        ("flag", [0, "true"], "true or false"),
        ("level", ["word", 1, []], "one of token, sequence"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_expected(name, values, expected):
    for value in values:
        with pytest.raises(InvalidInput) as caught:
            check_settings({name: value}, CHECKS, "config")
        assert (caught.value.message, caught.value.reason) == (f"config.{name} must be {expected}.", "InvalidConfig")

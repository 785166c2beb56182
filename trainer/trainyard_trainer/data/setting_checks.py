"""Checks of a job's settings from clients."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from trainyard_trainer.data.json_input import is_number
from trainyard_trainer.failures import InvalidInput


class SettingCheck(NamedTuple):
    """`expected` ends the sentence "NAME must be ...". `convert` returns the value for the trainer."""

    is_valid: Callable[[Any], bool]
    expected: str
    convert: Callable[[Any], Any] = lambda value: value


def check_settings(given: Mapping[str, object], checks: Mapping[str, SettingCheck], member: str) -> dict[str, Any]:
    """Returns the given settings. Nulls count as absent, and unknown names are ignored. InvalidInput names a wrong
    setting by its member of the request."""
    known = {name: value for name, value in given.items() if value is not None and name in checks}
    for name, value in known.items():
        if not checks[name].is_valid(value):
            raise InvalidInput(f"{member}.{name} must be {checks[name].expected}.", "InvalidConfig")
    return {name: checks[name].convert(value) for name, value in known.items()}


def check_number(minimum: float, maximum: float) -> SettingCheck:
    return SettingCheck(
        lambda value: is_number(value) and minimum <= value <= maximum, f"a number from {minimum} to {maximum}"
    )


def check_number_or_list(minimum: float, maximum: float, min_items: int, max_items: int) -> SettingCheck:
    is_valid, expected, _ = check_number(minimum, maximum)

    def is_valid_list(value: object) -> bool:
        return isinstance(value, list) and min_items <= len(value) <= max_items and all(map(is_valid, value))

    return SettingCheck(
        lambda value: is_valid(value) or is_valid_list(value),
        f"{expected}, or a list of {min_items} to {max_items} such numbers",
    )


def check_integer(minimum: int, maximum: int) -> SettingCheck:
    """2.0 is 2, because JSON has only one type of numbers."""
    return SettingCheck(
        lambda value: is_number(value) and value == int(value) and minimum <= value <= maximum,
        f"a whole number from {minimum} to {maximum}",
        int,
    )


def check_flag() -> SettingCheck:
    return SettingCheck(lambda value: isinstance(value, bool), "true or false")


def check_choice(choices: Collection[str]) -> SettingCheck:
    return SettingCheck(lambda value: value in choices, f"one of {', '.join(choices)}")

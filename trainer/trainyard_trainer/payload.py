"""The payload of an RL job: trajectory groups, checked before anything is computed from them."""

import json
import math
from dataclasses import dataclass

from trainyard_trainer.failures import InvalidInput


@dataclass(frozen=True)
class History:
    """One conversation: plain messages, and Choices, which were sampled."""

    messages_and_choices: list[dict]
    tools: list[dict] | None


@dataclass(frozen=True)
class Trajectory:
    reward: float
    histories: list[History]


@dataclass(frozen=True)
class Group:
    trajectories: list[Trajectory]


def parse_payload(content: bytes) -> list[Group]:
    """Groups of `{"trajectory_groups": [...]}`; InvalidInput names the place of what is wrong."""
    try:
        body = json.loads(content, parse_constant=refuse_constant)
    except ValueError as cause:
        raise InvalidInput(f"The payload is not JSON: {cause}.") from cause
    groups = require_list(require_object(body, "payload").get("trajectory_groups"), "trajectory_groups")
    return [parse_group(group, f"trajectory_groups[{place}]") for place, group in enumerate(groups)]


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def parse_group(group: object, where: str) -> Group:
    trajectories = require_list(require_object(group, where).get("trajectories"), f"{where}.trajectories")
    return Group([parse_trajectory(item, f"{where}.trajectories[{place}]") for place, item in enumerate(trajectories)])


def parse_trajectory(trajectory: object, where: str) -> Trajectory:
    fields = require_object(trajectory, where)
    reward = fields.get("reward")
    if not isinstance(reward, int | float) or not math.isfinite(reward):
        raise InvalidInput(f"{where}.reward must be a finite number.")
    others = require_list(fields.get("additional_histories") or [], f"{where}.additional_histories")
    histories = [parse_history(fields, where)]
    histories += [parse_history(item, f"{where}.additional_histories[{place}]") for place, item in enumerate(others)]
    return Trajectory(float(reward), histories)


def parse_history(history: object, where: str) -> History:
    fields = require_object(history, where)
    items = require_list(fields.get("messages_and_choices"), f"{where}.messages_and_choices")
    for place, item in enumerate(items):
        check_item(item, f"{where}.messages_and_choices[{place}]")
    tools = fields.get("tools")
    if tools is not None:
        for place, tool in enumerate(require_list(tools, f"{where}.tools")):
            require_object(tool, f"{where}.tools[{place}]")
    return History(items, tools or None)


def check_item(item: object, where: str) -> None:
    fields = require_object(item, where)
    message = require_object(fields["message"], f"{where}.message") if is_choice(fields) else fields
    role = message.get("role")
    if not isinstance(role, str) and not is_choice(fields):
        raise InvalidInput(f"{where}.role must be text.")
    if not isinstance(message.get("content"), str | list | None):
        raise InvalidInput(f"{where}.content must be text, a list of parts, or null.")
    for call in require_list(message.get("tool_calls") or [], f"{where}.tool_calls"):
        require_object(require_object(call, f"{where}.tool_calls").get("function"), f"{where}.tool_calls.function")


def is_choice(item: dict) -> bool:
    """A Choice was sampled from a model; anything else is a plain message."""
    return "finish_reason" in item and "message" in item


def require_object(value: object, where: str) -> dict:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} must be an object.")
    return value


def require_list(value: object, where: str) -> list:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list.")
    return value

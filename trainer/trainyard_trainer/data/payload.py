"""The payload of an RL job: trajectory groups, checked before anything is computed from them."""

from collections.abc import Callable
from dataclasses import dataclass

from trainyard_trainer.data.json_input import (
    is_number,
    require_list,
    require_messages,
    require_object,
    require_tools,
    told_of,
)
from trainyard_trainer.data.stepwise_json import parse_stepwise
from trainyard_trainer.failures import InvalidInput

# body, trajectory_groups, group, trajectories
TRAJECTORY_DEPTH = 4
# So that squares of rewards, and sums of these, are numbers.
LARGEST_REWARD = 1e100


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


def parse_payload(content: bytes, check: Callable[[], None] = lambda: None) -> list[Group]:
    """Groups of `{"trajectory_groups": [...]}`; whatever else the client's request held is passed over."""
    with told_of("The payload"):
        body = parse_stepwise(content, TRAJECTORY_DEPTH, check)
    body = require_object(body, "payload")
    groups = require_list(body.get("trajectory_groups"), "trajectory_groups")
    return [parse_group(group, f"trajectory_groups[{place}]") for place, group in enumerate(groups)]


def parse_group(group: object, where: str) -> Group:
    trajectories = require_list(require_object(group, where).get("trajectories"), f"{where}.trajectories")
    return Group([parse_trajectory(item, f"{where}.trajectories[{place}]") for place, item in enumerate(trajectories)])


def parse_trajectory(trajectory: object, where: str) -> Trajectory:
    fields = require_object(trajectory, where)
    reward = fields.get("reward")
    if not is_number(reward) or abs(reward) > LARGEST_REWARD:
        raise InvalidInput(f"{where}.reward must be a finite number of at most {LARGEST_REWARD:g}.")
    others = require_list(fields.get("additional_histories") or [], f"{where}.additional_histories")
    histories = [parse_history(fields, where)]
    histories += [parse_history(item, f"{where}.additional_histories[{place}]") for place, item in enumerate(others)]
    return Trajectory(float(reward), histories)


def parse_history(history: object, where: str) -> History:
    fields = require_object(history, where)
    items = require_messages(fields.get("messages_and_choices"), f"{where}.messages_and_choices")
    return History(items, require_tools(fields.get("tools"), f"{where}.tools"))

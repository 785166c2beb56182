"""The payload of an RL job: trajectory groups. They are checked before anything is computed from them.

A payload may contain hundreds of megabytes that training does not read. What training reads takes many times its bytes
as values. So a trajectory stays as bytes until it is needed, and only one trajectory of a job is in memory as values.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Raw, Struct
from msgspec.json import Decoder

from trainyard_trainer.data.choices import is_sampled, read_choice
from trainyard_trainer.data.json_input import is_number, require_messages, require_tools
from trainyard_trainer.data.parts import ABSENT, Values, is_given, read_parts, skip_byte_order_mark
from trainyard_trainer.failures import InvalidInput

# The limit keeps the squares of rewards, and the sums of these, finite.
MAX_REWARD = 1e100


@dataclass(frozen=True)
class History:
    """One conversation: plain messages, and sampled Choices."""

    messages_and_choices: list[dict]
    tools: list[dict] | None


@dataclass(frozen=True)
class Trajectory:
    reward: float
    content: Raw
    where: str

    def read_histories(self) -> list[History]:
        """Reads the histories again for each call, because they take much more memory than their bytes."""
        values = Values(self.where)
        parts = read_parts(self.content, TRAJECTORY, self.where)
        histories = [read_history(parts, values, self.where)]
        for index, other in enumerate(parts.additional_histories or ()):
            where = f"{self.where}.additional_histories[{index}]"
            histories.append(read_history(read_parts(other, HISTORY, where), values, where))
        return histories


@dataclass(frozen=True)
class Group:
    trajectories: list[Trajectory]


class BodyParts(Struct):
    trajectory_groups: list[Raw]


class GroupParts(Struct):
    trajectories: list[Raw]


class HistoryParts(Struct):
    messages_and_choices: list[Raw]
    tools: Raw = ABSENT


class TrajectoryParts(HistoryParts):
    reward: Raw = ABSENT
    additional_histories: list[Raw] | None = None


BODY, GROUP = Decoder(BodyParts), Decoder(GroupParts)
TRAJECTORY, HISTORY = Decoder(TrajectoryParts), Decoder(HistoryParts)


def parse_payload(content: bytes, check: Callable[[], None] = lambda: None) -> list[Group]:
    """The groups of `{"trajectory_groups": [...]}`. Other members of the client's request are skipped. `check` is
    called for each trajectory."""
    groups = read_parts(skip_byte_order_mark(content), BODY, "The payload").trajectory_groups
    return [parse_group(group, f"trajectory_groups[{index}]", check) for index, group in enumerate(groups)]


def parse_group(group: Raw, where: str, check: Callable[[], None]) -> Group:
    trajectories: list[Trajectory] = []
    for index, content in enumerate(read_parts(group, GROUP, where).trajectories):
        check()
        trajectories.append(parse_trajectory(content, f"{where}.trajectories[{index}]"))
    return Group(trajectories)


def parse_trajectory(content: Raw, where: str) -> Trajectory:
    """Reads the histories once, to check them."""
    reward = Values(where).read(read_parts(content, TRAJECTORY, where).reward, f"{where}.reward")
    if not is_number(reward) or abs(reward) > MAX_REWARD:
        raise InvalidInput(f"{where}.reward must be a finite number of at most {MAX_REWARD:g}.")
    trajectory = Trajectory(float(reward), content, where)
    trajectory.read_histories()
    return trajectory


def read_history(parts: HistoryParts, values: Values, where: str) -> History:
    name = f"{where}.messages_and_choices"
    items = [read_item(item, values, f"{name}[{index}]") for index, item in enumerate(parts.messages_and_choices)]
    tools = values.read(parts.tools, f"{where}.tools")
    return History(require_messages(items, name), require_tools(tools, f"{where}.tools"))


def read_item(content: Raw, values: Values, where: str) -> object:
    if is_sampled(content, where):
        return read_choice(content, values, where)
    return values.read(content, where) if is_given(content) else None

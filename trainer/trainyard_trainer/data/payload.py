"""The payload of an RL job: trajectory groups. They are checked before anything is computed from them.

A payload may contain hundreds of megabytes that training does not read. What training reads takes many times its bytes
as values. So a trajectory stays as bytes until it is needed, and only one trajectory of a job is in memory as values.

Clients leave out members that have their default: a trajectory without a reward has the reward 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Raw, Struct
from msgspec.json import Decoder

from trainyard_trainer.data.choices import is_sampled, read_choice
from trainyard_trainer.data.exchanges import read_exchanges
from trainyard_trainer.data.json_input import is_number, require_messages, require_tools
from trainyard_trainer.data.parts import ABSENT, Values, is_given, read_parts, skip_byte_order_mark
from trainyard_trainer.failures import InvalidInput

# The limit keeps the squares of rewards, and the sums of these, finite.
MAX_REWARD = 1e100


@dataclass(frozen=True)
class History:
    """One conversation: plain messages, and Choices with what was sampled (`Sampled`)."""

    messages_and_choices: list[dict]
    tools: list[dict] | None


@dataclass(frozen=True)
class Payload:
    """What a payload is read with: `check` is called for each trajectory, and `is_trained` says whether a name of a
    captured exchange is that of the trained model."""

    check: Callable[[], None] = lambda: None
    is_trained: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True)
class Trajectory:
    reward: float
    content: Raw
    where: str
    is_trained: Callable[[str], bool]

    def read_histories(self) -> list[History]:
        """Reads the histories again for each call, because they take much more memory than their bytes. The answers of
        captured exchanges are one history without messages, because their prompts are known."""
        values = Values(self.where)
        parts = read_parts(self.content, TRAJECTORY, self.where)
        if is_given(parts.exchanges):
            return [read_captured(parts, values, self.where, self.is_trained)]
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
    trajectories: list[Raw] | None = None


class HistoryParts(Struct):
    messages_and_choices: list[Raw] | None = None
    tools: Raw = ABSENT


class TrajectoryParts(HistoryParts):
    reward: Raw = ABSENT
    additional_histories: list[Raw] | None = None
    exchanges: Raw = ABSENT


BODY, GROUP = Decoder(BodyParts), Decoder(GroupParts)
TRAJECTORY, HISTORY = Decoder(TrajectoryParts), Decoder(HistoryParts)


def parse_payload(content: bytes, reading: Payload = Payload()) -> list[Group]:
    """The groups of `{"trajectory_groups": [...]}`. Other members of the client's request are skipped."""
    groups = read_parts(skip_byte_order_mark(content), BODY, "The payload").trajectory_groups
    return [parse_group(group, f"trajectory_groups[{index}]", reading) for index, group in enumerate(groups)]


def parse_group(group: Raw, where: str, reading: Payload) -> Group:
    trajectories: list[Trajectory] = []
    for index, content in enumerate(read_parts(group, GROUP, where).trajectories or ()):
        reading.check()
        trajectories.append(parse_trajectory(content, f"{where}.trajectories[{index}]", reading.is_trained))
    return Group(trajectories)


def parse_trajectory(content: Raw, where: str, is_trained: Callable[[str], bool]) -> Trajectory:
    """Reads the histories once, to check them."""
    reward = Values(where).read(read_parts(content, TRAJECTORY, where).reward, f"{where}.reward")
    if reward is None:
        reward = 0.0
    if not is_number(reward) or abs(reward) > MAX_REWARD:
        raise InvalidInput(f"{where}.reward must be a finite number of at most {MAX_REWARD:g}.")
    trajectory = Trajectory(float(reward), content, where, is_trained)
    trajectory.read_histories()
    return trajectory


def read_history(parts: HistoryParts, values: Values, where: str) -> History:
    name, given = f"{where}.messages_and_choices", parts.messages_and_choices or ()
    items = [read_item(item, values, f"{name}[{index}]") for index, item in enumerate(given)]
    tools = values.read(parts.tools, f"{where}.tools")
    return History(require_messages(items, name), require_tools(tools, f"{where}.tools"))


def read_item(content: Raw, values: Values, where: str) -> object:
    if is_sampled(content, where):
        return read_choice(content, values, where)
    return values.read(content, where) if is_given(content) else None


def read_captured(parts: TrajectoryParts, values: Values, where: str, is_trained: Callable[[str], bool]) -> History:
    if parts.messages_and_choices or parts.additional_histories:
        raise InvalidInput(f"{where} has exchanges and messages_and_choices: send one of them.")
    answers = read_exchanges(parts.exchanges, values, f"{where}.exchanges", is_trained)
    message = {"role": "assistant", "content": None}
    return History([{"finish_reason": None, "message": message, "sampled": answer} for answer in answers], None)

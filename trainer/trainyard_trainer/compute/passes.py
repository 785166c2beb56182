"""Which parts of which jobs go through the base in one turn: up to as many passes as are computed at once."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainyard_trainer.compute.example import count_row
from trainyard_trainer.compute.step import Part
from trainyard_trainer.compute.work import Work

# From a bound of tokens to parts, each the places of a step's examples.
Split = Callable[[int], list[list[int]]]


@dataclass(frozen=True)
class Share:
    """What one job contributes to a pass: the examples of its step at these places."""

    work: Work
    places: list[int]

    @property
    def num_tokens(self) -> int:
        return count_places(self.work, self.places)

    def build_part(self) -> Part:
        return self.work.build_part(self.places)


Pass = list[Share]


def plan_turn(first: Work, companions: Iterable[Work], width: int, budget: int) -> list[Pass]:
    """Takes parts of `first` for `width` passes, as far as it has them, and what else fits in from its companions."""
    passes: list[Pass] = [[] for _ in range(width)]
    for work in (first, *companions):
        for shares in passes:
            if work.parts and has_room(shares, work, budget):
                shares.append(Share(work, work.parts.popleft()))
    return [shares for shares in passes if shares]


def has_room(shares: Pass, work: Work, budget: int) -> bool:
    """A pass always has room for a first part, which may be one long example."""
    filled = sum(share.num_tokens for share in shares)
    return not shares or filled + count_places(work, work.parts[0]) <= budget


def count_places(work: Work, places: list[int]) -> int:
    """As they are computed: what a family's examples begin with counts once."""
    return count_row([work.step.examples[place] for place in places])


def split_evenly(split: Split, budget: int, width: int) -> list[list[int]]:
    """Parts for as few turns as the budget allows, none of whose passes is left without while others are full."""
    parts = split(budget)
    if width == 1 or not parts:
        return parts
    most = -(-len(parts) // width) * width
    smaller = bisect_left(range(1, budget + 1), True, key=lambda bound: len(split(bound)) <= most)
    return split(1 + smaller)

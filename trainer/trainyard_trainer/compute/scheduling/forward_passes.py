"""Plans the forward passes of a slice: which microbatches of which runs share a pass through the base model."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainyard_trainer.compute.rows.example import count_row
from trainyard_trainer.compute.rows.step import Microbatch
from trainyard_trainer.compute.scheduling.training_run import TrainingRun

# Maps a token budget to microbatches. Each microbatch is a list of indices of the step's examples.
Split = Callable[[int], list[list[int]]]


@dataclass(frozen=True)
class Contribution:
    """A run's part of a pass: the examples of its step at these indices."""

    run: TrainingRun
    indices: list[int]

    @property
    def num_tokens(self) -> int:
        return count_run_tokens(self.run, self.indices)

    def build_microbatch(self) -> Microbatch:
        return self.run.build_microbatch(self.indices)


ForwardPass = list[Contribution]


def plan_passes(
    first: TrainingRun, co_batched: Iterable[TrainingRun], world_size: int, budget: int
) -> list[ForwardPass]:
    """Fills up to `world_size` passes with microbatches of `first`, then with fitting ones of the other runs."""
    passes: list[ForwardPass] = [[] for _ in range(world_size)]
    for run in (first, *co_batched):
        for contributions in passes:
            if run.microbatches and has_room(contributions, run, budget):
                contributions.append(Contribution(run, run.microbatches.popleft()))
    return [contributions for contributions in passes if contributions]


def has_room(contributions: ForwardPass, run: TrainingRun, budget: int) -> bool:
    """A pass always has room for its first microbatch, which may be one long example."""
    filled = sum(contribution.num_tokens for contribution in contributions)
    return not contributions or filled + count_run_tokens(run, run.microbatches[0]) <= budget


def count_run_tokens(run: TrainingRun, indices: list[int]) -> int:
    """The computed tokens. The shared prefix of a family counts once."""
    return count_row([run.step.examples[index] for index in indices])


def split_evenly(split: Split, budget: int, world_size: int) -> list[list[int]]:
    """Microbatches for as few slices as the budget allows. They are balanced, so that no pass of a slice is empty."""
    microbatches = split(budget)
    if world_size == 1 or not microbatches:
        return microbatches
    max_passes = -(-len(microbatches) // world_size) * world_size
    smaller = bisect_left(range(1, budget + 1), True, key=lambda bound: len(split(bound)) <= max_passes)
    return split(1 + smaller)

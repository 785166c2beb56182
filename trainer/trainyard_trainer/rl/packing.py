"""Packs samples into sequences. All samples of a sequence share one optimizer step."""

from collections.abc import Sequence
from itertools import groupby
from random import Random

from trainyard_trainer.compute.rows.example import count_tokens
from trainyard_trainer.rl.advantages import Sample

# A sequence has the length of the longest sample, rounded up to a multiple of this, as in ART.
ROUNDING = 2048


def pack_sequences(
    samples: Sequence[Sample], max_length: int, seed: str, length: int | None = None
) -> list[list[Sample]]:
    """Fills sequences of at most `length` tokens in the order of the groups. Shuffles within groups and among
    sequences, with a seed.

    The shared prefix of a group's samples counts once in each sequence, as in the computation. Without a `length`, it
    is chosen here, up to `max_length`.
    """
    if not samples:
        return []
    random = Random(seed)
    if length is None:
        longest = max(sample.num_tokens for sample in samples)
        length = min(-(-longest // ROUNDING) * ROUNDING, max_length)
    sequences: list[list[Sample]] = [[]]
    filled = 0  # tokens of the earlier groups
    for group in shuffle_groups(samples, random):
        members: list[Sample] = []
        for sample in group:
            if sequences[-1] and filled + count_tokens([*members, sample]) > length:
                sequences.append([])
                filled, members = 0, []
            sequences[-1].append(sample)
            members.append(sample)
        filled += count_tokens(members)
    random.shuffle(sequences)
    return sequences


def shuffle_groups(samples: Sequence[Sample], random: Random) -> list[list[Sample]]:
    groups = [list(members) for _, members in groupby(samples, key=lambda sample: sample.family)]
    for group in groups:
        random.shuffle(group)
    return groups

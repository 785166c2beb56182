"""Samples in sequences: all samples of one sequence share one optimizer step."""

from itertools import groupby
from random import Random

from trainyard_trainer.rl.advantages import Sample

# Sequences are as long as the longest sample, rounded up to this, as in ART.
ROUNDING = 2048


def pack_sequences(samples: list[Sample], max_length: int, seed: str) -> list[list[Sample]]:
    """Fills sequences in the order of the groups, shuffles within groups and among sequences, seeded."""
    if not samples:
        return []
    random = Random(seed)
    longest = max(len(sample.tokens.ids) for sample in samples)
    length = min(-(-longest // ROUNDING) * ROUNDING, max_length)
    sequences: list[list[Sample]] = [[]]
    filled = 0
    for sample in shuffle_groups(samples, random):
        if filled + len(sample.tokens.ids) > length:
            sequences.append([])
            filled = 0
        sequences[-1].append(sample)
        filled += len(sample.tokens.ids)
    random.shuffle(sequences)
    return sequences


def shuffle_groups(samples: list[Sample], random: Random) -> list[Sample]:
    shuffled: list[Sample] = []
    for _, members in groupby(samples, key=lambda sample: sample.group):
        group = list(members)
        random.shuffle(group)
        shuffled += group
    return shuffled


def split_sequence(sequence: list[Sample]) -> list[list[Sample]]:
    """Batches of similar length, none larger, padding counted, than the sequence or its longest sample."""
    budget = sum(len(sample.tokens.ids) for sample in sequence)
    batches: list[list[Sample]] = []
    for sample in sorted(sequence, key=lambda sample: -len(sample.tokens.ids)):
        longest = len(batches[-1][0].tokens.ids) if batches else 0
        if not batches or longest * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(sample)
    return batches

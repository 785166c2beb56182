import numpy as np

from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.packing import pack_sequences


def make_sample(ids: list[int], group: int, prompt: int = 1) -> Sample:
    example = make_example(ids, [index >= prompt for index in range(len(ids))], group)
    return Sample(example.ids, example.trained, group, 0, 0, 1.0, 1.0, np.zeros(example.num_trained, np.float32))


def make_samples(*lengths: int) -> list[Sample]:
    """Groups of eight, whose members share no prefix."""
    return [make_sample([index] * length, index // 8) for index, length in enumerate(lengths)]


def list_lengths(sequences: list[list[Sample]]) -> list[list[int]]:
    return [[sample.num_tokens for sample in sequence] for sequence in sequences]


def test_no_samples_make_no_sequences():
    assert pack_sequences([], 4096, "job") == []


def test_short_samples_share_one_sequence():
    assert len(pack_sequences(make_samples(*[30] * 64), 32_768, "job")) == 1


def test_a_long_sample_widens_all_sequences():
    lengths = list_lengths(pack_sequences(make_samples(2049, *[1000] * 4), 32_768, "job"))
    assert sorted(sum(sequence) for sequence in lengths) in ([2000, 4049], [3000, 3049], [1000, 5049], [4000, 2049])


def test_the_limit_is_kept_when_rounding_would_exceed_it():
    assert list_lengths(pack_sequences(make_samples(50, 50), 64, "job")) == [[50], [50]]


def test_the_same_job_packs_the_same_way_and_another_does_not():
    samples = make_samples(*range(100, 900, 20))
    packed = pack_sequences(samples, 4096, "a")
    lengths = list_lengths(packed)
    assert lengths == list_lengths(pack_sequences(samples, 4096, "a"))
    assert lengths != list_lengths(pack_sequences(samples, 4096, "b"))
    assert sorted(length for sequence in lengths for length in sequence) == list(range(100, 900, 20))


def test_the_shared_prefix_of_a_group_counts_once():
    prompt = list(range(1000))
    group = [make_sample([*prompt, *[2000 + number] * 10], 0, prompt=1000) for number in range(16)]
    assert len(pack_sequences(group, 4096, "job")) == 1  # 1,160 tokens of 16,160
    alone = [make_sample(sample.ids.tolist(), index, prompt=1000) for index, sample in enumerate(group)]
    assert len(pack_sequences(alone, 4096, "job")) == 8  # two by two in 2,048


def test_each_sequence_computes_a_shared_prefix_again():
    prompt = list(range(1500))
    group = [make_sample([*prompt, *[2000 + number] * 300], 0, prompt=1500) for number in range(4)]
    assert sorted(map(len, pack_sequences(group, 4096, "job"))) == [1, 1, 1, 1]
    assert sorted(map(len, pack_sequences([*group, make_sample([5] * 2100, 1)], 8192, "job"))) == [1, 4]


def test_a_chosen_length_takes_the_place_of_the_rounded_one():
    lengths = list_lengths(pack_sequences(make_samples(*[30] * 8), 32_768, "job", length=100))
    assert sorted(map(len, lengths)) == [2, 3, 3]

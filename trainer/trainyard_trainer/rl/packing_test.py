from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.packing import pack_sequences, split_sequence
from trainyard_trainer.tokens.history import TokenizedHistory


def make_samples(*lengths: int) -> list[Sample]:
    return [
        Sample(TokenizedHistory([place] * length, [True] * length, [0.0] * length), place // 8, 1.0, 1.0)
        for place, length in enumerate(lengths)
    ]


def list_lengths(batches: list[list[Sample]]) -> list[list[int]]:
    return [[len(sample.tokens.ids) for sample in batch] for batch in batches]


def test_no_samples_make_no_sequences():
    assert pack_sequences([], 4096, "job") == []


def test_short_samples_share_one_sequence():
    assert len(pack_sequences(make_samples(*[30] * 64), 32_768, "job")) == 1


def test_a_long_sample_widens_all_sequences():
    lengths = list_lengths(pack_sequences(make_samples(2049, *[1000] * 4), 32_768, "job"))
    assert sorted(sum(sequence) for sequence in lengths) in ([2000, 4049], [3000, 3049], [1000, 5049], [4000, 2049])


def test_the_limit_holds_where_rounding_would_pass_it():
    assert list_lengths(pack_sequences(make_samples(50, 50), 64, "job")) == [[50], [50]]


def test_the_same_job_packs_the_same_way_and_another_does_not():
    samples = make_samples(*range(100, 900, 20))
    packed = pack_sequences(samples, 4096, "a")
    assert packed == pack_sequences(samples, 4096, "a")
    assert packed != pack_sequences(samples, 4096, "b")
    assert sorted(length for sequence in list_lengths(packed) for length in sequence) == list(range(100, 900, 20))


def test_batches_pad_no_more_than_the_sequence_holds():
    sequence = make_samples(2000, *[10] * 30)
    batches = list_lengths(split_sequence(sequence))
    assert batches == [[2000], [10] * 30]

import pytest
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from trainyard_trainer.tokens.sampled import find_token_id, look_up, map_bytes

SPACE = "\u2581"


@pytest.fixture
def make_tokenizer():
    """A tokenizer of these pieces in SentencePiece's form. `strips` says whether it removes the space before a text."""

    def make(*pieces, strips=True):
        vocabulary = {piece: number for number, piece in enumerate(["<unk>", "<0x0A>", "<0x61>", "<0xE3>", *pieces])}
        made = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=True))
        steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
        made.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if strips else steps)
        return PreTrainedTokenizerFast(tokenizer_object=made)

    return make


def find(tokenizer, content):
    return find_token_id({"token": "?", "bytes": list(content)}, tokenizer)


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        (b" the", f"{SPACE}the"),
        ("é".encode(), "é"),
        (b"a", "a"),
        (b"\n", "<0x0A>"),
        (b"\xe3", "<0xE3>"),
        (b"\xe9", None),
        (b"ow", "ow"),
        (b"no such", None),
    ],
)
@pytest.mark.parametrize("strips", [True, False])
def test_pieces_of_a_vocabulary_without_bytes(make_tokenizer, content, piece, strips):
    tokenizer = make_tokenizer(f"{SPACE}the", "the", "é", "Ã©", "a", "ow", strips=strips)
    assert find(tokenizer, content) == (piece and tokenizer.get_vocab()[piece])


def test_a_word_that_may_have_lost_its_space_is_unknown(make_tokenizer):
    assert find(make_tokenizer(f"{SPACE}the", "the"), b"the") is None
    spaced = make_tokenizer(f"{SPACE}the", "the", strips=False)
    assert find(spaced, b"the") == spaced.get_vocab()["the"]


def test_the_replacement_character_identifies_no_id(make_tokenizer):
    tokenizer = make_tokenizer("\ufffd")
    assert find(tokenizer, "\ufffd".encode()) is None
    assert find_token_id({"token": "\ufffd", "bytes": None}, tokenizer) is None


@pytest.mark.parametrize(("text", "content"), [("x" * 600, None), ("?", [120] * 600)], ids=["text", "bytes"])
def test_bytes_longer_than_any_token_are_not_cached(tokenizer, text, content):
    before = look_up.cache_info()
    assert find_token_id({"token": text, "bytes": content}, tokenizer) is None
    assert look_up.cache_info() == before


def test_each_token_of_bytes_is_found_by_its_bytes(tokenizer):
    spelt = {number: content for content, number in map_bytes(tokenizer).items()}
    assert len(spelt) == len(tokenizer)
    assert all(find(tokenizer, content) == number for number, content in spelt.items())

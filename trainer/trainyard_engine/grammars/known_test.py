from trainyard_engine.grammars.known import OVERHEAD_BYTES, KnownGrammars
from trainyard_engine.grammars.verdict import Grammar, Verdict

SIZE = 1000


def good(key):
    return Verdict(Grammar(key, SIZE - OVERHEAD_BYTES))


def test_a_good_grammar_is_known_by_its_order_and_by_its_key():
    known = KnownGrammars(10 * SIZE)
    known.record("order", good("key"))
    assert [known.is_good(digest) for digest in ("order", "key", "other")] == [True, True, False]


def test_an_order_without_a_grammar_is_good():
    known = KnownGrammars(SIZE)
    known.record("order", Verdict())
    assert known.is_good("order")


def test_a_grammar_that_the_engine_dropped_is_new_again():
    known = KnownGrammars(3 * SIZE)
    for number in range(3):
        known.record(f"order{number}", good(f"key{number}"))
    assert known.is_good("order0")  # this counts as its last use
    known.record("order3", good("key3"))
    assert [known.is_good(f"order{number}") for number in range(4)] == [True, False, True, True]
    known.record("order1", good("key1"))
    assert known.is_good("key1")
    assert known.held_bytes == 3 * SIZE


def test_a_rejection_is_remembered_for_a_while():
    seconds = [0.0]
    known = KnownGrammars(SIZE, now=lambda: seconds[0])
    known.record("slow", Verdict(error="too slow"))
    known.record("late", Verdict(error="too late", lasting=False))
    assert (known.find_error("slow"), known.find_error("late")) == ("too slow", None)
    seconds[0] = 601
    assert known.find_error("slow") is None
    assert not known.is_good("slow")

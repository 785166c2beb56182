from trainyard_engine.grammars.grammar import Grammar, Verdict
from trainyard_engine.grammars.known import OVERHEAD_BYTES, KnownGrammars

SIZE = 10_000


def grammar(number):
    return Grammar("regex", f"{number}")


def test_a_grammar_that_the_engine_dropped_is_new_again():
    good = Verdict(size=SIZE - OVERHEAD_BYTES)
    known = KnownGrammars(3 * SIZE)
    for number in range(3):
        known.record(grammar(number), good)
    assert known.find(grammar(0))  # this counts as its last use
    known.record(grammar(3), good)
    assert [known.find(grammar(number)) for number in range(4)] == [good, None, good, good]
    known.record(grammar(3), good)
    assert known.held_bytes == 3 * SIZE


def test_a_rejection_is_remembered_for_a_while():
    seconds = [0.0]
    known = KnownGrammars(SIZE, now=lambda: seconds[0])
    slow = Verdict("too slow")
    known.record(grammar("slow"), slow)
    known.record(grammar("late"), Verdict("too late", lasting=False))
    assert (known.find(grammar("slow")), known.find(grammar("late"))) == (slow, None)
    seconds[0] = 601
    assert known.find(grammar("slow")) is None

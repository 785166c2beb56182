from trainyard_engine.grammars.grammar import CompileResult, Grammar
from trainyard_engine.grammars.result_cache import OVERHEAD_BYTES, ResultCache

SIZE = 10_000


def grammar(number):
    return Grammar("regex", f"{number}")


def test_a_grammar_that_the_engine_dropped_is_new_again():
    good = CompileResult(size=SIZE - OVERHEAD_BYTES)
    results = ResultCache(3 * SIZE)
    for number in range(3):
        results.record(grammar(number), good)
    assert results.find(grammar(0))  # this counts as its last use
    results.record(grammar(3), good)
    assert [results.find(grammar(number)) for number in range(4)] == [good, None, good, good]
    results.record(grammar(3), good)
    assert results.held_bytes == 3 * SIZE


def test_a_rejection_is_remembered_for_a_while():
    seconds = [0.0]
    results = ResultCache(SIZE, now=lambda: seconds[0])
    slow = CompileResult("too slow")
    results.record(grammar("slow"), slow)
    results.record(grammar("late"), CompileResult("too late", lasting=False))
    assert (results.find(grammar("slow")), results.find(grammar("late"))) == (slow, None)
    seconds[0] = 601
    assert results.find(grammar("slow")) is None

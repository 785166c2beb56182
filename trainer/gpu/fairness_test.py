from trainyard_engine.fairness.scheduler_test import (  # noqa: F401  # two fixtures
    adapters,
    ask_much,
    load,
    many_adapters_let_others_have_one,
    require_neighbour,
    start,
)


def test_a_neighbour_of_an_engine_that_schedules_a_step_ahead(start, adapters):  # noqa: F811
    engine = start("--max-num-seqs", "8", TRAINYARD_MAX_LORAS="2")
    load(engine, adapters)
    chats = ask_much(engine, ["tiny"] * 8, n=64)
    require_neighbour(engine, chats, ["tiny"] * 3)
    texts = [text for chat in chats for text in chat.result(200)]
    assert len(texts) == 8 * 64 and all(texts)
    many_adapters_let_others_have_one(engine, adapters)

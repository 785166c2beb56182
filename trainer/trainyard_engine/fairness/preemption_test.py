import pytest

from trainyard_engine.fairness.preemption import Capacity, Claim, Held, choose_adapter_to_drain, choose_victims
from trainyard_engine.fairness.tenants import Tenant

A, B, C = (Tenant(name) for name in "abc")


def hold(tenant: Tenant, count: int, *, blocks: int = 1, adapter: int = 0) -> list[Held]:
    return [Held(f"{tenant.name}{adapter}-{index}", tenant, blocks, adapter) for index in range(count)]


def claim(running, claimant, *, sequences=8, blocks=64, adapters=2, times=None, free=None) -> Claim:
    used = sum(held.blocks for held in running)
    capacity = Capacity(sequences, blocks, adapters)
    return Claim(claimant, capacity, running, blocks - used if free is None else free, times or {A: 5, B: 5, C: 5})


def names(victims: list[Held]) -> list[str]:
    return [held.name for held in victims]


def test_the_newest_request_of_the_tenant_with_most_sequences_makes_room():
    running = hold(A, 6) + hold(C, 2)
    assert names(choose_victims(claim(running, *hold(B, 1)))) == ["a0-5"]


def test_nobody_makes_room_while_there_is_some():
    assert choose_victims(claim(hold(A, 7), *hold(B, 1))) == []


@pytest.mark.parametrize(("own", "victims"), [(3, ["a0-4"]), (4, [])])
def test_a_tenant_takes_at_most_what_the_other_keeps(own, victims):
    running = hold(A, 8 - own) + hold(B, own)
    assert names(choose_victims(claim(running, Held("new", B, 1, 0)))) == victims


def test_a_tenant_that_had_more_tokens_waits():
    assert choose_victims(claim(hold(A, 8), *hold(B, 1), times={A: 4, B: 5})) == []


def test_a_larger_weight_keeps_more():
    heavy = Tenant("a", 3)
    times = {heavy: 5, B: 5}
    running = hold(heavy, 6) + hold(B, 2)
    assert choose_victims(claim(running, Held("new", B, 1, 0), times=times)) == []
    assert names(choose_victims(claim(hold(A, 6) + hold(B, 2), Held("new", B, 1, 0)))) == ["a0-5"]


def test_as_many_make_room_as_have_the_blocks():
    running = hold(A, 4, blocks=15)
    assert names(choose_victims(claim(running, Held("new", B, 20, 0)))) == ["a0-3", "a0-2"]
    assert choose_victims(claim(running, Held("new", B, 35, 0))) == [], "the claimant would have the most"


def test_blocks_that_are_shared_count_once():
    assert choose_victims(claim(hold(A, 4, blocks=15), Held("new", B, 20, 0), free=40)) == []


def test_all_requests_of_the_least_used_adapter_make_room():
    running = hold(A, 2, adapter=1) + hold(A, 1, adapter=2) + hold(A, 1)
    assert names(choose_victims(claim(running, Held("new", B, 1, 3)))) == ["a2-0"]


def test_the_last_adapter_of_a_tenant_is_drained():
    running = hold(A, 2, adapter=1) + hold(C, 1, adapter=2)
    waits = claim(running, Held("new", B, 1, 3), times={A: 5, B: 5, C: 9})
    assert choose_victims(waits) == []
    assert choose_adapter_to_drain(waits) == 2
    assert choose_adapter_to_drain(claim(running, Held("new", B, 1, 1))) == 0

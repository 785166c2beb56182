from types import SimpleNamespace

import pytest

from trainyard_engine.fairness.queue import FairQueue
from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import MEMBER, Tenant


class Waiting(SimpleNamespace):
    """What the queue reads of a request."""

    __hash__ = object.__hash__


def make(name: str, tenant: str, weight: float = 1) -> Waiting:
    return Waiting(name=name, sampling_params=SimpleNamespace(extra_args={MEMBER: [tenant, weight]}))


@pytest.fixture
def queue():
    return FairQueue(StrideScheduler())


def add(queue, *requests) -> None:
    for request in requests:
        queue.stride.enter(Tenant(*request.sampling_params.extra_args[MEMBER]))
        queue.add_request(request)


def pop_all(queue) -> list[str]:
    return [queue.pop_request().name for _ in range(len(queue))]


def test_tenants_alternate_and_keep_their_order(queue):
    add(queue, *(make(f"a{index}", "a") for index in range(4)), make("b0", "b"), make("b1", "b"))
    assert pop_all(queue) == ["a0", "b0", "a1", "b1", "a2", "a3"]
    assert not queue


def test_a_tenant_that_had_more_tokens_comes_later(queue):
    add(queue, make("a0", "a"), make("b0", "b"))
    queue.stride.charge(Tenant("a"), 100)
    assert [request.name for request in queue] == ["b0", "a0"]
    assert pop_all(queue) == ["b0", "a0"]


def test_a_tenant_that_comes_later_owes_nothing_and_saved_nothing(queue):
    add(queue, make("a0", "a"))
    queue.stride.charge(Tenant("a"), 100)
    add(queue, make("b0", "b"))
    assert queue.stride.times == {Tenant("a"): 100, Tenant("b"): 100}


def test_a_heavy_tenant_has_more_turns(queue):
    add(queue, *(make(f"a{index}", "a") for index in range(3)), *(make(f"b{index}", "b", 2) for index in range(4)))
    assert pop_all(queue) == ["a0", "b0", "b1", "a1", "b2", "b3", "a2"]


def test_what_is_taken_back_comes_first_and_costs_nothing(queue):
    requests = [make(f"a{index}", "a") for index in range(3)]
    add(queue, *requests)
    skipped = [queue.pop_request(), queue.pop_request()]
    queue.prepend_requests(reversed(skipped))
    assert queue.stride.times == {Tenant("a"): 0}
    queue.remove_requests({requests[0], requests[2], make("other", "c")})
    assert pop_all(queue) == ["a1"]


def test_an_empty_queue(queue):
    with pytest.raises(IndexError):
        queue.peek_request()

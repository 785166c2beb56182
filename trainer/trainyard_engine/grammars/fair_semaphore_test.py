import asyncio

import pytest

from trainyard_engine.fairness.tenants import Tenant
from trainyard_engine.grammars.fair_semaphore import FairSemaphore
from trainyard_engine.grammars.verdict import GrammarError


def run(test):
    asyncio.run(asyncio.wait_for(test(), 5))


async def ask(semaphore, name, served):
    await semaphore.acquire(Tenant(name))
    served.append(name)


def open_requests(semaphore, tenants):
    served = []
    tasks = [asyncio.create_task(ask(semaphore, tenant, served)) for tenant in tenants]
    return served, tasks


def test_one_of_each_tenant_at_a_time():
    async def test():
        semaphore = FairSemaphore(2, 9)
        served, _ = open_requests(semaphore, "aaab")
        await asyncio.sleep(0.01)
        assert served == ["a", "b"]
        semaphore.release(Tenant("a"))
        await asyncio.sleep(0.01)
        assert served == ["a", "b", "a"]

    run(test)


def test_the_tenant_that_was_served_longest_ago_is_next():
    async def test():
        semaphore = FairSemaphore(1, 9)
        served, _ = open_requests(semaphore, "aaabbc")
        for _ in range(5):
            await asyncio.sleep(0.01)
            semaphore.release(Tenant(served[-1]))
        await asyncio.sleep(0.01)
        assert "".join(served) == "abcaba"

    run(test)


def test_a_tenant_has_a_limited_number_of_waiting_requests():
    async def test():
        semaphore = FairSemaphore(1, 2)
        served, _ = open_requests(semaphore, "aaa")
        await asyncio.sleep(0.01)
        assert served == ["a"]
        with pytest.raises(GrammarError, match="2 new grammars of your entity") as caught:
            await semaphore.acquire(Tenant("a"))
        assert caught.value.status == 429
        asyncio.get_running_loop().call_later(0.01, semaphore.release, Tenant("a"))
        await semaphore.acquire(Tenant("b"))

    run(test)


def test_a_request_that_has_left_does_not_block_others():
    async def test():
        semaphore = FairSemaphore(1, 2)
        _, tasks = open_requests(semaphore, "aaa")
        await asyncio.sleep(0.01)
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks[1:], return_exceptions=True)
        _, others = open_requests(semaphore, "aa")
        await asyncio.sleep(0.01)
        assert [task.done() for task in others] == [False, False]
        semaphore.release(Tenant("a"))
        await others[0]

    run(test)


def test_a_request_that_leaves_takes_no_permit():
    async def test():
        semaphore = FairSemaphore(1, 9)
        served, tasks = open_requests(semaphore, "aab")
        await asyncio.sleep(0.01)
        tasks[2].cancel()
        await asyncio.sleep(0.01)
        semaphore.release(Tenant("a"))
        await asyncio.sleep(0.01)
        assert served == ["a", "a"]
        semaphore.release(Tenant("a"))
        await semaphore.acquire(Tenant("c"))
        assert (semaphore.queues, semaphore.stride.times.keys()) == ({}, {Tenant("c")})

    run(test)


def test_a_tenant_with_twice_the_weight_gets_twice_the_permits():
    async def test():
        semaphore = FairSemaphore(1, 9)
        served = []

        async def go(tenant):
            await semaphore.acquire(tenant)
            served.append(tenant.name)
            await asyncio.sleep(0)  # lets all others enqueue
            semaphore.release(tenant)

        tenants = [Tenant("a"), Tenant("b", weight=2)]
        await asyncio.gather(*(go(tenant) for tenant in tenants for _ in range(8)))
        assert [served[:9].count(name) for name in "ab"] == [3, 6]
        assert (semaphore.queues, semaphore.stride.times, semaphore.free) == ({}, {}, 1)

    run(test)

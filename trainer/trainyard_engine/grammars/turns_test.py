import asyncio

import pytest

from trainyard_engine.grammars.turns import Tenant, Turns
from trainyard_engine.grammars.verdict import GrammarRefused


def run(test):
    asyncio.run(asyncio.wait_for(test(), 5))


async def ask(turns, name, served):
    await turns.take(Tenant(name))
    served.append(name)


def open_requests(turns, tenants):
    served = []
    tasks = [asyncio.create_task(ask(turns, tenant, served)) for tenant in tenants]
    return served, tasks


def test_one_of_each_tenant_at_a_time():
    async def test():
        turns = Turns(2, 9)
        served, _ = open_requests(turns, "aaab")
        await asyncio.sleep(0.01)
        assert served == ["a", "b"]
        turns.give_back(Tenant("a"))
        await asyncio.sleep(0.01)
        assert served == ["a", "b", "a"]

    run(test)


def test_who_was_served_longest_ago_is_next():
    async def test():
        turns = Turns(1, 9)
        served, _ = open_requests(turns, "aaabbc")
        for _ in range(5):
            await asyncio.sleep(0.01)
            turns.give_back(Tenant(served[-1]))
        await asyncio.sleep(0.01)
        assert "".join(served) == "abcaba"

    run(test)


def test_a_tenant_has_only_so_many_waiting():
    async def test():
        turns = Turns(1, 2)
        served, _ = open_requests(turns, "aaa")
        await asyncio.sleep(0.01)
        assert served == ["a"]
        with pytest.raises(GrammarRefused, match="2 new grammars of yours") as caught:
            await turns.take(Tenant("a"))
        assert caught.value.status == 429
        asyncio.get_running_loop().call_later(0.01, turns.give_back, Tenant("a"))
        await turns.take(Tenant("b"))

    run(test)


def test_who_has_left_keeps_nobody_out():
    async def test():
        turns = Turns(1, 2)
        _, tasks = open_requests(turns, "aaa")
        await asyncio.sleep(0.01)
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks[1:], return_exceptions=True)
        _, others = open_requests(turns, "aa")
        await asyncio.sleep(0.01)
        assert [task.done() for task in others] == [False, False]
        turns.give_back(Tenant("a"))
        await others[0]

    run(test)


def test_who_leaves_takes_no_turn():
    async def test():
        turns = Turns(1, 9)
        served, tasks = open_requests(turns, "aab")
        await asyncio.sleep(0.01)
        tasks[2].cancel()
        await asyncio.sleep(0.01)
        turns.give_back(Tenant("a"))
        await asyncio.sleep(0.01)
        assert served == ["a", "a"]
        turns.give_back(Tenant("a"))
        await turns.take(Tenant("c"))
        assert (turns.queues, turns.times.keys()) == ({}, {Tenant("c")})

    run(test)


def test_a_tenant_of_twice_the_weight_has_twice_the_turns():
    async def test():
        turns = Turns(1, 9)
        served = []

        async def go(tenant):
            await turns.take(tenant)
            served.append(tenant.name)
            await asyncio.sleep(0)  # meanwhile all others ask
            turns.give_back(tenant)

        tenants = [Tenant("a"), Tenant("b", weight=2)]
        await asyncio.gather(*(go(tenant) for tenant in tenants for _ in range(8)))
        assert [served[:9].count(name) for name in "ab"] == [3, 6]
        assert (turns.queues, turns.times, turns.free) == ({}, {}, 1)

    run(test)

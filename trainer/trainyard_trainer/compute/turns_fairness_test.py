import threading
from collections import defaultdict

import numpy as np
import pytest

from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.compute.turns_for_tests import BUDGET, finish, make_steps, make_work, run
from trainyard_trainer.compute.work import LARGEST_LEAD


class TestFairness:
    @pytest.mark.parametrize("seed", range(3))
    def test_jobs_with_steps_of_any_cost_get_equal_time(self, machine, seed):
        families = np.random.default_rng(seed).permutation([1, 3, 20])
        works = [
            make_work(machine, make_steps(seed + place, 40 // size + 2, size)) for place, size in enumerate(families)
        ]
        told = run(machine, works)
        used = dict.fromkeys((work.slot for work in works), 0)
        left = {work.slot: len(work.steps) for work in works}
        largest = max(tokens for ((_, tokens),) in machine.passes)
        tokens_left = defaultdict(int)
        for ((slot, tokens),) in machine.passes:
            tokens_left[slot] += tokens
        for ((slot, tokens),) in machine.passes:
            waiting = [other for other in used if tokens_left[other]]
            assert used[slot] == min(used[other] for other in waiting)
            used[slot] += tokens
            tokens_left[slot] -= tokens
            assert max(used[other] for other in waiting) - min(used[other] for other in waiting) <= largest
        assert [len(each) for each in told] == list(left.values())

    def test_who_comes_later_is_served_at_once_and_pays_for_nothing_before(self, machine):
        first, second = (make_work(machine, make_steps(place, 30, 3)) for place in range(2))
        late = make_work(machine, make_steps(9, 12, 3))
        turns = Turns(machine, Policy(BUDGET))
        machine.before_pass = lambda: turns.submit(late) if len(machine.passes) == 20 else None
        readers = [threading.Thread(target=finish, args=(work,)) for work in (first, second, late)]
        turns.submit(first)
        turns.submit(second)
        for reader in readers:
            reader.start()
        with turns:
            for reader in readers:
                reader.join(timeout=60)
        served = [part for (part,) in machine.passes]
        order = [slot for slot, _ in served]
        assert late.slot in order[21:24]
        last = len(order) - order[::-1].index(late.slot)
        used = {
            work.slot: sum(tokens for slot, tokens in served[21:last] if slot == work.slot)
            for work in (first, second, late)
        }
        assert max(used.values()) - min(used.values()) <= 2 * max(tokens for _, tokens in served)

    def test_who_waited_for_its_reader_has_saved_up_no_time(self, machine):
        idle, busy = (make_work(machine, make_steps(place, 3 * LARGEST_LEAD, 2)) for place in range(2))
        turns = Turns(machine, Policy(BUDGET))
        turns.submit(idle)
        turns.submit(busy)
        with turns:
            reports = busy.read_reports()
            for _ in range(2 * LARGEST_LEAD):
                next(reports)
            assert idle.position == LARGEST_LEAD  # nobody reads
            before = len(machine.passes)
            readers = [threading.Thread(target=finish, args=(idle,)), threading.Thread(target=lambda: list(reports))]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join(timeout=60)
        order = [slot for ((slot, _),) in machine.passes][before : before + 16]
        assert min(order.count(idle.slot), order.count(busy.slot)) >= 4

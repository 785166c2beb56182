import threading
from collections import defaultdict

import numpy as np
import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.scheduled_runs import BUDGET, finish, make_run, make_steps, run_all
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import MAX_PENDING_REPORTS


class TestFairness:
    @pytest.mark.parametrize("seed", range(3))
    def test_jobs_with_steps_of_any_cost_get_equal_time(self, executor, seed):
        families = np.random.default_rng(seed).permutation([1, 3, 20])
        runs = [
            make_run(executor, make_steps(seed + index, 40 // size + 2, size)) for index, size in enumerate(families)
        ]
        reports = run_all(executor, runs)
        used = dict.fromkeys((run.slot for run in runs), 0)
        left = {run.slot: len(run.steps) for run in runs}
        largest = max(tokens for ((_, tokens),) in executor.passes)
        tokens_left = defaultdict(int)
        for ((slot, tokens),) in executor.passes:
            tokens_left[slot] += tokens
        for ((slot, tokens),) in executor.passes:
            waiting = [other for other in used if tokens_left[other]]
            assert used[slot] == min(used[other] for other in waiting)
            used[slot] += tokens
            tokens_left[slot] -= tokens
            assert max(used[other] for other in waiting) - min(used[other] for other in waiting) <= largest
        assert [len(each) for each in reports] == list(left.values())

    def test_a_later_job_is_served_at_once_without_a_penalty(self, executor):
        first, second = (make_run(executor, make_steps(index, 30, 3)) for index in range(2))
        late = make_run(executor, make_steps(9, 12, 3))
        scheduler = Scheduler(executor, Policy(BUDGET))
        executor.before_pass = lambda: scheduler.submit(late) if len(executor.passes) == 20 else None
        readers = [threading.Thread(target=finish, args=(run,)) for run in (first, second, late)]
        scheduler.submit(first)
        scheduler.submit(second)
        for reader in readers:
            reader.start()
        with scheduler:
            for reader in readers:
                reader.join(MAX_WAIT_SECONDS)
        active = [microbatch for (microbatch,) in executor.passes]
        order = [slot for slot, _ in active]
        assert late.slot in order[21:24]
        last = len(order) - order[::-1].index(late.slot)
        used = {
            run.slot: sum(tokens for slot, tokens in active[21:last] if slot == run.slot)
            for run in (first, second, late)
        }
        assert max(used.values()) - min(used.values()) <= 2 * max(tokens for _, tokens in active)

    def test_a_job_that_waited_for_its_reader_gets_no_additional_time(self, executor):
        idle, busy = (make_run(executor, make_steps(index, 3 * MAX_PENDING_REPORTS, 2)) for index in range(2))
        scheduler = Scheduler(executor, Policy(BUDGET))
        scheduler.submit(idle)
        scheduler.submit(busy)
        with scheduler:
            reports = busy.read_reports()
            for _ in range(2 * MAX_PENDING_REPORTS):
                next(reports)
            assert idle.position == MAX_PENDING_REPORTS  # it has no reader
            before = len(executor.passes)
            readers = [threading.Thread(target=finish, args=(idle,)), threading.Thread(target=lambda: list(reports))]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join(MAX_WAIT_SECONDS)
        order = [slot for ((slot, _),) in executor.passes][before : before + 16]
        assert min(order.count(idle.slot), order.count(busy.slot)) >= 4

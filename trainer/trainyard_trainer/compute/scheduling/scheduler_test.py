import threading

import pytest
import torch

from testing.deadlines import MAX_WAIT_SECONDS
from testing.scheduled_runs import BUDGET, finish, make_run, make_steps, run_all
from trainyard_trainer.compute.scheduling.device_thread import Call
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import MAX_PENDING_REPORTS, StateReport
from trainyard_trainer.config import ANY
from trainyard_trainer.failures import ShuttingDown


class TestReports:
    def test_steps_are_numbered_and_the_last_report_has_the_weights(self, executor):
        run = make_run(executor, make_steps(1, 3))
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            scheduler.submit(run)
            reports, saved = finish(run)
        assert [report.number for report in reports] == [1, 2, 3]
        assert (saved.steps_taken, saved.last) == (3, True)
        for name, tensor in executor.read(run.slot).weights.items():
            assert torch.equal(tensor, saved.state.weights[name])

    def test_a_run_that_begins_in_the_middle_computes_the_remaining_steps(self, executor):
        run = make_run(executor, make_steps(1, 5), position=3)
        (reports,) = run_all(executor, [run])
        assert [report.number for report in reports] == [4, 5]

    def test_a_reader_that_stops_halts_only_its_own_training(self, executor):
        unread = make_run(executor, make_steps(1, 2 * MAX_PENDING_REPORTS))
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            scheduler.submit(unread)
            other = make_run(executor, make_steps(2, 2 * MAX_PENDING_REPORTS))
            scheduler.submit(other)
            assert len(finish(other)[0]) == 2 * MAX_PENDING_REPORTS
            assert unread.position == MAX_PENDING_REPORTS
            assert len(finish(unread)[0]) == 2 * MAX_PENDING_REPORTS

    def test_progress_is_reported_between_steps_when_it_is_due(self, executor):
        run = make_run(executor, make_steps(1, 4), save_seconds=0.0)
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            scheduler.submit(run)
            reports = list(run.read_reports())
        kinds = [type(report).__name__ for report in reports]
        assert kinds.count("StepReport") == 4
        saved = [report for report in reports if isinstance(report, StateReport)]
        assert saved[-1].last
        assert not any(report.last for report in saved[:-1])
        assert [report.steps_taken for report in saved[-4:]] == [1, 2, 3, 4]

    def test_a_run_that_has_to_end_saves_after_its_current_step(self, executor):
        leaving = threading.Event()
        run = make_run(executor, make_steps(1, 10, 40), is_shutting_down=leaving.is_set)
        executor.before_pass = lambda: leaving.set()
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            scheduler.submit(run)
            reports, saved = finish(run)
        assert len(executor.passes) > 1  # the step has several microbatches, and all of them were computed
        assert (len(reports), saved.steps_taken, saved.last) == (1, 1, True)


class TestCalls:
    def test_calls_are_answered_by_one_thread_while_runs_are_active(self, executor):
        run = make_run(executor, make_steps(1, 40))
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            scheduler.submit(run)
            reader = threading.Thread(target=finish, args=(run,))
            reader.start()
            threads = {scheduler.call(threading.get_ident) for _ in range(20)}
            during = scheduler.call(lambda: run.position)
            reader.join(MAX_WAIT_SECONDS)
        assert threads == {scheduler.thread.ident}
        assert during < 40

    def test_jobs_run_between_any_number_of_calls(self, executor):
        runs = [make_run(executor, make_steps(index, 5)) for index in range(2)]
        scheduler = Scheduler(executor, Policy(BUDGET))
        passes: list[int] = []
        callers = [
            threading.Thread(target=scheduler.call, args=(lambda: passes.append(len(executor.passes)),))
            for _ in range(6)
        ]
        for run in runs:
            scheduler.submit(run)
        for caller in callers:
            caller.start()
        with scheduler:
            for waiting in (*callers, *(threading.Thread(target=finish, args=(run,)) for run in runs)):
                if not waiting.ident:
                    waiting.start()
                waiting.join(MAX_WAIT_SECONDS)
        assert passes == list(range(6))

    def test_waiters_get_an_error_when_the_thread_ends(self, executor):
        run = make_run(executor, make_steps(1, 40))
        scheduler = Scheduler(executor, Policy(BUDGET))
        failed: list[BaseException] = []
        entered, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            entered.set()
            go_on.wait(MAX_WAIT_SECONDS)

        def call() -> None:
            try:
                scheduler.call(lambda: None)
            except ShuttingDown as cause:
                failed.append(cause)

        callers = [threading.Thread(target=scheduler.call, args=(wait,)), threading.Thread(target=call, daemon=True)]
        with scheduler:
            callers[0].start()
            entered.wait(MAX_WAIT_SECONDS)
            scheduler.submit(run)
            callers[1].start()
            while not scheduler.calls:
                pass
            scheduler.closed = True  # like the end of the context
            go_on.set()
            scheduler.thread.join()
            scheduler.closed = False
        callers[1].join(MAX_WAIT_SECONDS)
        assert len(failed) == 1
        with pytest.raises(ShuttingDown):
            finish(run)

    def test_a_call_that_ends_after_the_thread_has_no_effect(self):
        call = Call(lambda: call.fail(ShuttingDown("given up")))
        call.run()
        with pytest.raises(ShuttingDown):
            call.future.result()

    def test_an_exception_of_a_call_is_raised_at_its_caller_and_ends_no_job(self, executor):
        scheduler = Scheduler(executor, Policy(BUDGET))
        with scheduler:
            for cause in (ValueError("no"), KeyboardInterrupt("stop")):

                def fail(cause: BaseException = cause) -> None:
                    raise cause

                with pytest.raises(type(cause)):
                    scheduler.call(fail)
            assert scheduler.call(lambda: 5) == 5

    def test_a_run_that_is_withdrawn_computes_no_further_step(self, executor):
        run, other = (make_run(executor, make_steps(index, 30, 12)) for index in range(2))
        scheduler = Scheduler(executor, Policy(BUDGET, ANY))
        with scheduler:
            scheduler.submit(run)
            scheduler.submit(other)
            next(run.read_reports())
            scheduler.call(lambda: scheduler.remove(run))
            position = scheduler.call(lambda: run.position)
            scheduler.call(lambda: executor.close(run.slot))
            reports, _ = finish(other)
        assert len(reports) == 30
        assert run.position == position < 30

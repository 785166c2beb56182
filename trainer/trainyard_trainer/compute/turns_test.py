import threading

import pytest
import torch

from trainyard_trainer.compute.device_thread import Call
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.compute.turns_for_tests import BUDGET, finish, make_steps, make_work, run
from trainyard_trainer.compute.work import LARGEST_LEAD, Saved
from trainyard_trainer.config import ANY
from trainyard_trainer.failures import Leaving


class TestReports:
    def test_steps_are_numbered_and_the_last_report_holds_the_weights(self, machine):
        work = make_work(machine, make_steps(1, 3))
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            turns.submit(work)
            told, saved = finish(work)
        assert [taken.number for taken in told] == [1, 2, 3]
        assert (saved.steps_taken, saved.last) == (3, True)
        for name, tensor in machine.read(work.slot).weights.items():
            assert torch.equal(tensor, saved.state.weights[name])

    def test_a_work_that_begins_in_the_middle_takes_the_steps_that_are_left(self, machine):
        work = make_work(machine, make_steps(1, 5), position=3)
        (told,) = run(machine, [work])
        assert [taken.number for taken in told] == [4, 5]

    def test_nobody_who_reads_halts_the_training_for_itself_only(self, machine):
        unread = make_work(machine, make_steps(1, 2 * LARGEST_LEAD))
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            turns.submit(unread)
            other = make_work(machine, make_steps(2, 2 * LARGEST_LEAD))
            turns.submit(other)
            assert len(finish(other)[0]) == 2 * LARGEST_LEAD
            assert unread.position == LARGEST_LEAD
            assert len(finish(unread)[0]) == 2 * LARGEST_LEAD

    def test_progress_is_told_between_steps_when_it_is_due(self, machine):
        work = make_work(machine, make_steps(1, 4), save_seconds=0.0)
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            turns.submit(work)
            reports = list(work.read_reports())
        kinds = [type(report).__name__ for report in reports]
        assert kinds.count("StepTaken") == 4
        saved = [report for report in reports if isinstance(report, Saved)]
        assert saved[-1].last
        assert not any(report.last for report in saved[:-1])
        assert [report.steps_taken for report in saved[-4:]] == [1, 2, 3, 4]

    def test_who_is_to_leave_saves_after_the_step_that_is_begun(self, machine):
        leaving = threading.Event()
        work = make_work(machine, make_steps(1, 10, 40), is_leaving=leaving.is_set)
        machine.before_pass = lambda: leaving.set()
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            turns.submit(work)
            told, saved = finish(work)
        assert len(machine.passes) > 1  # the step has several parts, and all of them were computed
        assert (len(told), saved.steps_taken, saved.last) == (1, 1, True)


class TestCalls:
    def test_calls_are_answered_while_works_run_and_by_one_thread(self, machine):
        work = make_work(machine, make_steps(1, 40))
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            turns.submit(work)
            reader = threading.Thread(target=finish, args=(work,))
            reader.start()
            threads = {turns.call(threading.get_ident) for _ in range(20)}
            during = turns.call(lambda: work.position)
            reader.join(timeout=60)
        assert threads == {turns.thread.ident}
        assert during < 40

    def test_jobs_have_their_turns_between_calls_however_many_there_are(self, machine):
        works = [make_work(machine, make_steps(place, 5)) for place in range(2)]
        turns = Turns(machine, Policy(BUDGET))
        passes: list[int] = []
        callers = [
            threading.Thread(target=turns.call, args=(lambda: passes.append(len(machine.passes)),)) for _ in range(6)
        ]
        for work in works:
            turns.submit(work)
        for caller in callers:
            caller.start()
        with turns:
            for waiting in (*callers, *(threading.Thread(target=finish, args=(work,)) for work in works)):
                if not waiting.ident:
                    waiting.start()
                waiting.join(timeout=60)
        assert passes == list(range(6))

    def test_who_waits_when_the_thread_ends_is_told(self, machine):
        work = make_work(machine, make_steps(1, 40))
        turns = Turns(machine, Policy(BUDGET))
        failed: list[BaseException] = []
        entered, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            entered.set()
            go_on.wait(60)

        def call() -> None:
            try:
                turns.call(lambda: None)
            except Leaving as cause:
                failed.append(cause)

        callers = [threading.Thread(target=turns.call, args=(wait,)), threading.Thread(target=call, daemon=True)]
        with turns:
            callers[0].start()
            entered.wait(60)
            turns.submit(work)
            callers[1].start()
            while not turns.calls:
                pass
            turns.closed = True  # as the end of the context has it
            go_on.set()
            turns.thread.join()
            turns.closed = False
        callers[1].join(timeout=10)
        assert len(failed) == 1
        with pytest.raises(Leaving):
            finish(work)

    def test_a_call_that_ends_after_the_thread_was_given_up_harms_nothing(self):
        call = Call(lambda: call.fail(Leaving("given up")))
        call.run()
        with pytest.raises(Leaving):
            call.future.result()

    def test_what_a_call_raises_is_raised_where_it_was_called_and_ends_nothing(self, machine):
        turns = Turns(machine, Policy(BUDGET))
        with turns:
            for cause in (ValueError("no"), KeyboardInterrupt("stop")):

                def fail(cause: BaseException = cause) -> None:
                    raise cause

                with pytest.raises(type(cause)):
                    turns.call(fail)
            assert turns.call(lambda: 5) == 5

    def test_a_work_that_is_withdrawn_in_the_middle_takes_no_further_step(self, machine):
        work, other = (make_work(machine, make_steps(place, 30, 12)) for place in range(2))
        turns = Turns(machine, Policy(BUDGET, ANY))
        with turns:
            turns.submit(work)
            turns.submit(other)
            next(work.read_reports())
            turns.call(lambda: turns.remove(work))
            position = turns.call(lambda: work.position)
            turns.call(lambda: machine.close(work.slot))
            told, _ = finish(other)
        assert len(told) == 30
        assert work.position == position < 30

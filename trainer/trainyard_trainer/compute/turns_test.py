import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch

from trainyard_trainer.compute import turns as turns_module
from trainyard_trainer.compute.device_thread import Call
from trainyard_trainer.compute.example import count_row, make_example
from trainyard_trainer.compute.machine import Check, Machine
from trainyard_trainer.compute.models_for_tests import LLAMA_TARGETS, make_base, make_families, open_random
from trainyard_trainer.compute.optimizer import RL, SFT, Recipe
from trainyard_trainer.compute.slots import Shape
from trainyard_trainer.compute.step import Part, PartResult, Step
from trainyard_trainer.compute.turns import Policy, Turns
from trainyard_trainer.compute.work import LARGEST_LEAD, Saved, StepTaken, Work
from trainyard_trainer.config import ANY, OFF, SAME_ENTITY
from trainyard_trainer.failures import Fenced, InvalidInput, Leaving
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.sft.objective import SftObjective

BUDGET = 400
SMALL, LARGE = Shape(2, 4, ("q_proj", "v_proj")), Shape(8, 32, LLAMA_TARGETS)


@dataclass
class Clock:
    """Time goes on as tokens are computed, so that turns can be foreseen."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@dataclass
class Watched(Machine):
    """Tells of its passes: a list for each, of the slot and the tokens of each part."""

    clock: Clock
    passes: list[list[tuple[str, int]]] = field(default_factory=list)
    before_pass: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__init__(make_base())

    def backward(self, passes: Sequence[Sequence[Part]], check: Check) -> list[list[PartResult]]:
        self.before_pass()
        for parts in passes:
            self.passes.append([(part.slot, count_row(part.examples)) for part in parts])
            self.clock.now += sum(tokens for _, tokens in self.passes[-1])
        return super().backward(passes, check)


@pytest.fixture(scope="module")
def shared() -> Watched:
    return Watched(Clock())


@pytest.fixture
def machine(shared, monkeypatch) -> Watched:
    monkeypatch.setattr(turns_module, "time", shared.clock)
    shared.passes.clear()
    monkeypatch.setattr(shared, "before_pass", lambda: None)
    yield shared
    for slot in shared.slots.all:
        if not slot.free:
            shared.close(slot.name)


def make_steps(seed: int, count: int, families: int = 2, **changes: object) -> list[Step]:
    steps = []
    for number in range(count):
        examples = make_families(seed * 1000 + number, families)
        divisor = sum(example.num_trained for example in examples)
        steps.append(replace(Step(examples, SftObjective(len(examples), 0, 0), 1e-3, divisor), **changes))
    return steps


def make_rl_steps(seed: int, count: int, **config: object) -> list[Step]:
    random = np.random.default_rng(seed)
    has_reference = "kl_penalty_coef" in config
    steps = []
    for number in range(count):
        samples = [
            Sample(
                example.ids,
                example.trained,
                example.family,
                trajectory=0,
                history=0,
                advantage=random.normal(),
                weight=1.0,
                old_logprobs=np.full(example.num_trained, -4.6, np.float32),
                reference_logprobs=np.full(example.num_trained, -4.6, np.float32) if has_reference else None,
            )
            for example in make_families(seed * 1000 + number, 2)
        ]
        steps.append(build_step(samples, parse_config(config | {"learning_rate": 1e-3})))
    return steps


def make_work(
    machine: Machine, steps: list[Step], shape: Shape = SMALL, recipe: Recipe = SFT, **changes: object
) -> Work:
    work = Work(open_random(machine, shape), recipe, steps, "acme", lambda: None, save_seconds=1e9)
    for name, value in changes.items():
        setattr(work, name, value)
    return work


def finish(work: Work) -> tuple[list[StepTaken], Saved]:
    *steps, saved = work.read_reports()
    return steps, saved


def run(
    machine: Machine, works: Sequence[Work], co_batch: str = OFF, budget: int = BUDGET
) -> list[list[StepTaken] | BaseException]:
    """What each work told, or what ended it; all were there from the beginning, and each has a reader."""
    found: dict[Work, list[StepTaken] | BaseException] = {}

    def read(work: Work) -> None:
        try:
            found[work] = finish(work)[0]
        except Exception as cause:
            found[work] = cause

    turns = Turns(machine, Policy(budget, co_batch))
    readers = [threading.Thread(target=read, args=(work,)) for work in works]
    for work, reader in zip(works, readers, strict=True):
        turns.submit(work)
        reader.start()
    with turns:
        for reader in readers:
            reader.join(timeout=60)
    return [found[work] for work in works]


def list_losses(told: list[StepTaken] | BaseException) -> list[float]:
    assert isinstance(told, list), told
    return [taken.numbers["loss"] for taken in told]


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


class TestCoBatching:
    @pytest.mark.parametrize(
        ("policy", "together"),
        [(OFF, set()), (SAME_ENTITY, {"acme"}), (ANY, {"acme", "other"})],
    )
    def test_whose_jobs_go_together_is_the_policys_to_say(self, machine, policy, together):
        works = [make_work(machine, make_steps(place, 6, 1)) for place in range(3)]
        works[1].entity = "other"
        run(machine, works, policy)
        entities = {work.slot: work.entity for work in works}
        joined = [{entities[slot] for slot, _ in parts} for parts in machine.passes if len(parts) > 1]
        assert set().union(*joined) == together
        if policy == SAME_ENTITY:
            assert all(len(each) == 1 for each in joined)

    def test_no_pass_is_larger_than_the_budget(self, machine):
        works = [make_work(machine, make_steps(place, 5, 1 + 4 * place)) for place in range(4)]
        run(machine, works, ANY)
        sizes = [sum(tokens for _, tokens in parts) for parts in machine.passes if len(parts) > 1]
        assert sizes
        assert max(sizes) <= BUDGET

    def test_jobs_of_all_kinds_give_together_what_each_gives_alone(self, machine):
        def make_works() -> list[Work]:
            return [
                make_work(machine, make_steps(1, 6, 2)),
                make_work(machine, make_steps(2, 4, 6, learning_rate=3e-3), LARGE),
                make_work(machine, make_rl_steps(3, 5), LARGE, RL),
                make_work(machine, make_rl_steps(4, 5, ppo=True, kl_penalty_coef=0.2), SMALL, RL),
                make_work(
                    machine, make_rl_steps(5, 3, importance_sampling_level="sequence"), SMALL, RL, entity="other"
                ),
            ]

        alone = [run(machine, [work])[0] for work in make_works()]
        machine.passes.clear()
        together = run(machine, make_works(), ANY, budget=2000)
        assert max(map(len, machine.passes)) >= 4
        for one, other in zip(together, alone, strict=True):
            assert list_losses(one) == pytest.approx(list_losses(other), rel=1e-4, abs=1e-4)
            assert [set(taken.numbers) for taken in one] == [set(taken.numbers) for taken in other]
            norms = [taken.numbers["grad_norm"] for taken in other]
            assert [taken.numbers["grad_norm"] for taken in one] == pytest.approx(norms, rel=1e-3)


class Broken(SftObjective):
    """An objective with a fault of its own."""

    def describe(self, sums, num_trained):
        raise ZeroDivisionError("no numbers today")


class Nan(SftObjective):
    """An objective whose loss is none."""

    def measure(self, examples, logprobs_N, entropies_N, surveyed):
        found = super().measure(examples, logprobs_N, entropies_N, surveyed)
        return replace(found, loss=found.loss * torch.nan)


class Infinite(SftObjective):
    """An objective whose loss is a number, and its gradient none."""

    def measure(self, examples, logprobs_N, entropies_N, surveyed):
        found = super().measure(examples, logprobs_N, entropies_N, surveyed)
        return replace(found, loss=found.loss + (found.loss - found.loss).sqrt())


class TestFailures:
    @pytest.mark.parametrize("co_batch", [OFF, ANY])
    @pytest.mark.parametrize(
        ("objective", "kind"),
        [(Broken, ZeroDivisionError), (Nan, InvalidInput), (Infinite, InvalidInput)],
        ids=["an exception", "a loss that is no number", "a gradient that is no number"],
    )
    def test_one_jobs_failure_is_not_anothers(self, machine, co_batch, objective, kind):
        (wanted,) = run(machine, [make_work(machine, make_steps(1, 6, 2))])
        good = make_work(machine, make_steps(1, 6, 2))
        bad = make_work(machine, [*make_steps(2, 2, 1), *make_steps(3, 2, 1, objective=objective(0, 0, 0))])
        found, failed = run(machine, [good, bad], co_batch)
        assert isinstance(failed, kind)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)

    @pytest.mark.parametrize("moment", [1, 2, 5, 9, 14, 20])
    def test_a_job_that_is_taken_away_within_a_pass_leaves_the_others_as_they_were(self, machine, moment):
        (wanted,) = run(machine, [make_work(machine, make_steps(1, 4, 2))])
        calls = 0

        def check() -> None:
            nonlocal calls
            calls += 1
            if calls >= moment:
                raise Fenced("cancelled")

        good = make_work(machine, make_steps(1, 4, 2))
        found, failed = run(machine, [good, make_work(machine, make_steps(2, 4, 2), check=check)], ANY)
        assert isinstance(failed, Fenced)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)
        norms = [taken.numbers["grad_norm"] for taken in wanted]
        assert [taken.numbers["grad_norm"] for taken in found] == pytest.approx(norms, rel=1e-3)  # no pass counts twice

    def test_two_jobs_may_end_in_one_pass_for_different_reasons(self, machine):
        def make_check(cause: Exception) -> Callable[[], None]:
            calls = iter(range(100))

            def check() -> None:
                if next(calls) >= 5:
                    raise cause

            return check

        causes = [Fenced("cancelled"), RuntimeError("no reason"), Fenced("another has it"), Leaving("the time is up")]
        works = [make_work(machine, make_steps(1, 4), check=make_check(cause)) for cause in causes]
        good = make_work(machine, make_steps(2, 4))
        *failed, left, told = run(machine, [*works, good], ANY)
        assert failed == causes[:3]
        assert left == []  # it saved what it had, which was nothing
        assert len(list_losses(told)) == 4

    def test_memory_that_is_out_is_tried_again_with_half_as_much_and_once(self, machine, monkeypatch, capfd):
        real, sizes = Machine.pass_backward, []

        def pass_backward(self, parts, check):
            sizes.append(sum(count_row(part.examples) for part in parts))
            if sizes[-1] > limit:
                raise torch.OutOfMemoryError("out of memory")
            return real(self, parts, check)

        monkeypatch.setattr(Machine, "pass_backward", pass_backward)
        limit = BUDGET // 2
        (told,) = run(machine, [make_work(machine, make_steps(1, 2, 12))])
        assert len(list_losses(told)) == 2
        assert "trying again with smaller batches" in capfd.readouterr().out
        limit = 20
        (failed,) = run(machine, [make_work(machine, make_steps(1, 2, 12))])
        assert isinstance(failed, torch.OutOfMemoryError)
        limit = BUDGET // 2
        works = [make_work(machine, make_steps(place, 2, 12)) for place in range(2)]
        assert [len(list_losses(told)) for told in run(machine, works, ANY)] == [2, 2]

    def test_a_companion_whose_step_cannot_begin_fails_in_its_own_turn(self, machine):
        bad = make_work(machine, make_steps(2, 2, objective=Broken(0, 0, 0)))
        bad.steps[0].examples.clear()  # without an example its step ends as soon as it begins
        good = make_work(machine, make_steps(1, 4))
        told, failed = run(machine, [good, bad], ANY)
        assert isinstance(failed, ZeroDivisionError)
        assert len(list_losses(told)) == 4

    @pytest.mark.parametrize("sizes", [[20], [20, 55]], ids=["steps of one part", "whose next part goes alone"])
    def test_a_gradient_that_another_job_spoilt_costs_nobody_its_job(self, machine, monkeypatch, sizes):
        budget = 60

        def make_good() -> Work:
            rows = [make_example(list(range(3, size + 3)), [True] * size, place) for place, size in enumerate(sizes)]
            return make_work(machine, [Step(rows, SftObjective(1, 0, 0), 1e-3, sum(sizes))] * 3)

        (wanted,) = run(machine, [make_good()], budget=budget)
        real = Machine.backward

        def backward(self, passes, check):
            """As flex attention does: what is no number in one job's part gets into those of all."""
            found = real(self, passes, check)
            for parts in passes:
                if any(isinstance(part.objective, Infinite) for part in parts):
                    for part in parts:
                        for parameter in self.find(part.slot).parameters.values():
                            parameter.grad.fill_(torch.nan)
            return found

        monkeypatch.setattr(Machine, "backward", backward)
        row = make_example([5] * 20, [True] * 20, 0)
        bad = make_work(machine, [Step([row], Infinite(1, 0, 0), 1e-3, 20)])
        found, failed = run(machine, [make_good(), bad], ANY, budget)
        assert max(map(len, machine.passes)) == 2
        assert isinstance(failed, InvalidInput)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)
        norms = [taken.numbers["grad_norm"] for taken in wanted]
        assert [taken.numbers["grad_norm"] for taken in found] == pytest.approx(norms, rel=1e-3)

    def test_a_step_that_cannot_be_told_of_is_not_taken_again(self, machine, monkeypatch):
        taken = []
        real = Machine.take_step
        monkeypatch.setattr(
            Machine, "take_step", lambda self, slot, *each: taken.append(slot) or real(self, slot, *each)
        )
        good = make_work(machine, make_steps(1, 3))
        bad = make_work(machine, make_steps(2, 3, objective=Broken(0, 0, 0)))
        run(machine, [good, bad], ANY)
        assert (taken.count(good.slot), taken.count(bad.slot)) == (3, 1)

    def test_who_leaves_and_cannot_be_read_takes_nobody_along(self, machine, monkeypatch):
        calls = iter(range(100))

        def check() -> None:
            if next(calls) >= 5:
                raise Leaving("the time is up")

        leaving, good = make_work(machine, make_steps(1, 4), check=check), make_work(machine, make_steps(2, 4))
        real = Machine.read

        def read(self, slot):
            if slot == leaving.slot:
                raise OSError("no memory for a copy")
            return real(self, slot)

        monkeypatch.setattr(Machine, "read", read)
        failed, told = run(machine, [leaving, good], ANY)
        assert isinstance(failed, OSError)
        assert len(list_losses(told)) == 4

    def test_who_adapts_the_head_is_never_tried_with_others(self, machine, monkeypatch):
        tried = []
        real = Machine.backward
        monkeypatch.setattr(
            Machine, "backward", lambda self, passes, check: tried.extend(map(len, passes)) or real(self, passes, check)
        )
        head = Shape(2, 4, ("lm_head", "v_proj"))
        works = [make_work(machine, make_steps(place, 3), shape) for place, shape in enumerate([head, SMALL])]
        assert [len(list_losses(told)) for told in run(machine, works, ANY)] == [3, 3]
        assert set(tried) == {1}


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

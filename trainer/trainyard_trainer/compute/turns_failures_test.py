from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from trainyard_trainer.compute.example import count_row, make_example
from trainyard_trainer.compute.machine import Machine
from trainyard_trainer.compute.slots import Shape
from trainyard_trainer.compute.step import Step
from trainyard_trainer.compute.turns_for_tests import BUDGET, SMALL, list_losses, make_steps, make_work, run
from trainyard_trainer.compute.work import Work
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import Fenced, InvalidInput, Leaving
from trainyard_trainer.sft.objective import SftObjective


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

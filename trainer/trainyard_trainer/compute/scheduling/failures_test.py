from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from testing.scheduled_runs import BUDGET, SMALL, list_losses, make_run, make_steps, run_all
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.example import count_row, make_example
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.compute.scheduling.training_run import TrainingRun
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import Fenced, InvalidInput, ShuttingDown
from trainyard_trainer.sft.objective import SftObjective


class Broken(SftObjective):
    """An objective with a bug."""

    def describe(self, sums, num_trained):
        raise ZeroDivisionError("no numbers today")


class Nan(SftObjective):
    """An objective whose loss is NaN."""

    def measure(self, examples, logprobs_N, entropies_N, mean_kl):
        found = super().measure(examples, logprobs_N, entropies_N, mean_kl)
        return replace(found, loss=found.loss * torch.nan)


class Infinite(SftObjective):
    """An objective with a finite loss and an infinite gradient."""

    def measure(self, examples, logprobs_N, entropies_N, mean_kl):
        found = super().measure(examples, logprobs_N, entropies_N, mean_kl)
        return replace(found, loss=found.loss + (found.loss - found.loss).sqrt())


class TestFailures:
    @pytest.mark.parametrize("co_batch", [OFF, ANY])
    @pytest.mark.parametrize(
        ("objective", "kind"),
        [(Broken, ZeroDivisionError), (Nan, InvalidInput), (Infinite, InvalidInput)],
        ids=["an exception", "a loss that is no number", "a gradient that is no number"],
    )
    def test_a_failure_of_one_job_does_not_affect_another(self, executor, co_batch, objective, kind):
        (wanted,) = run_all(executor, [make_run(executor, make_steps(1, 6, 2))])
        good = make_run(executor, make_steps(1, 6, 2))
        bad = make_run(executor, [*make_steps(2, 2, 1), *make_steps(3, 2, 1, objective=objective(0, 0, 0))])
        found, failed = run_all(executor, [good, bad], co_batch)
        assert isinstance(failed, kind)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)

    @pytest.mark.parametrize("co_batch", [OFF, ANY])
    @pytest.mark.parametrize("number", [torch.nan, torch.inf, 3e38, 1e20])
    def test_an_adapter_that_overflows_does_not_affect_the_job_of_another(self, executor, co_batch, number):
        (wanted,) = run_all(executor, [make_run(executor, make_steps(1, 6, 2))])
        good, bad = (make_run(executor, make_steps(seed, 6, 2)) for seed in (1, 2))
        state = executor.read(bad.slot)
        weights = {name: torch.full_like(tensor, number) for name, tensor in state.weights.items()}
        executor.refill(bad.slot, replace(state, weights=weights))
        found, failed = run_all(executor, [good, bad], co_batch)
        assert isinstance(failed, InvalidInput)
        assert list_losses(found) == list_losses(wanted)

    @pytest.mark.parametrize("moment", [1, 2, 5, 9, 14, 20])
    def test_a_job_that_is_lost_within_a_pass_does_not_change_the_others(self, executor, moment):
        (wanted,) = run_all(executor, [make_run(executor, make_steps(1, 4, 2))])
        calls = 0

        def check() -> None:
            nonlocal calls
            calls += 1
            if calls >= moment:
                raise Fenced("cancelled")

        good = make_run(executor, make_steps(1, 4, 2))
        found, failed = run_all(executor, [good, make_run(executor, make_steps(2, 4, 2), check=check)], ANY)
        assert isinstance(failed, Fenced)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)
        norms = [report.numbers["grad_norm"] for report in wanted]
        assert [report.numbers["grad_norm"] for report in found] == pytest.approx(
            norms, rel=1e-3
        )  # no pass counts twice

    def test_two_jobs_may_end_in_one_pass_for_different_reasons(self, executor):
        def make_check(cause: Exception) -> Callable[[], None]:
            calls = iter(range(100))

            def check() -> None:
                if next(calls) >= 5:
                    raise cause

            return check

        causes = [
            Fenced("cancelled"),
            RuntimeError("no reason"),
            Fenced("another has it"),
            ShuttingDown("the time is up"),
        ]
        runs = [make_run(executor, make_steps(1, 4), check=make_check(cause)) for cause in causes]
        good = make_run(executor, make_steps(2, 4))
        *failed, left, reports = run_all(executor, [*runs, good], ANY)
        assert failed == causes[:3]
        assert left == []  # it saved its progress, which was empty
        assert len(list_losses(reports)) == 4

    def test_out_of_memory_is_retried_once_with_half_as_much(self, executor, monkeypatch, capfd):
        real, sizes = Executor.pass_backward, []

        def pass_backward(self, microbatches, check):
            sizes.append(sum(count_row(microbatch.examples) for microbatch in microbatches))
            if sizes[-1] > limit:
                raise torch.OutOfMemoryError("out of memory")
            return real(self, microbatches, check)

        monkeypatch.setattr(Executor, "pass_backward", pass_backward)
        limit = BUDGET // 2
        (reports,) = run_all(executor, [make_run(executor, make_steps(1, 2, 12))])
        assert len(list_losses(reports)) == 2
        assert "trying again with smaller batches" in capfd.readouterr().out
        limit = 20
        (failed,) = run_all(executor, [make_run(executor, make_steps(1, 2, 12))])
        assert isinstance(failed, torch.OutOfMemoryError)
        limit = BUDGET // 2
        runs = [make_run(executor, make_steps(index, 2, 12)) for index in range(2)]
        assert [len(list_losses(reports)) for reports in run_all(executor, runs, ANY)] == [2, 2]

    def test_a_co_batched_job_whose_step_cannot_begin_fails_in_its_own_slice(self, executor):
        bad = make_run(executor, make_steps(2, 2, objective=Broken(0, 0, 0)))
        bad.steps[0].examples.clear()  # without an example, its step ends as soon as it begins
        good = make_run(executor, make_steps(1, 4))
        reports, failed = run_all(executor, [good, bad], ANY)
        assert isinstance(failed, ZeroDivisionError)
        assert len(list_losses(reports)) == 4

    @pytest.mark.parametrize("sizes", [[20], [20, 55]], ids=["steps of one part", "whose next part goes alone"])
    def test_a_gradient_that_another_job_damaged_fails_no_job(self, executor, monkeypatch, sizes):
        budget = 60

        def make_good() -> TrainingRun:
            rows = [make_example(list(range(3, size + 3)), [True] * size, index) for index, size in enumerate(sizes)]
            return make_run(executor, [Step(rows, SftObjective(1, 0, 0), 1e-3, sum(sizes))] * 3)

        (wanted,) = run_all(executor, [make_good()], budget=budget)
        real = Executor.backward

        def backward(self, passes, check):
            """As with flex attention, a NaN in one job's part spreads to all jobs."""
            found = real(self, passes, check)
            for microbatches in passes:
                if any(isinstance(microbatch.objective, Infinite) for microbatch in microbatches):
                    for microbatch in microbatches:
                        for parameter in self.find(microbatch.slot).parameters.values():
                            parameter.grad.fill_(torch.nan)
            return found

        monkeypatch.setattr(Executor, "backward", backward)
        row = make_example([5] * 20, [True] * 20, 0)
        bad = make_run(executor, [Step([row], Infinite(1, 0, 0), 1e-3, 20)])
        found, failed = run_all(executor, [make_good(), bad], ANY, budget)
        assert max(map(len, executor.passes)) == 2
        assert isinstance(failed, InvalidInput)
        assert list_losses(found) == pytest.approx(list_losses(wanted), rel=1e-4)
        norms = [report.numbers["grad_norm"] for report in wanted]
        assert [report.numbers["grad_norm"] for report in found] == pytest.approx(norms, rel=1e-3)

    def test_a_step_that_cannot_be_reported_is_not_repeated(self, executor, monkeypatch):
        stepped = []
        real = Executor.step_optimizer
        monkeypatch.setattr(
            Executor, "step_optimizer", lambda self, slot, *each: stepped.append(slot) or real(self, slot, *each)
        )
        good = make_run(executor, make_steps(1, 3))
        bad = make_run(executor, make_steps(2, 3, objective=Broken(0, 0, 0)))
        run_all(executor, [good, bad], ANY)
        assert (stepped.count(good.slot), stepped.count(bad.slot)) == (3, 1)

    def test_a_job_whose_state_cannot_be_read_does_not_affect_others(self, executor, monkeypatch):
        calls = iter(range(100))

        def check() -> None:
            if next(calls) >= 5:
                raise ShuttingDown("the time is up")

        leaving, good = make_run(executor, make_steps(1, 4), check=check), make_run(executor, make_steps(2, 4))
        real = Executor.read

        def read(self, slot):
            if slot == leaving.slot:
                raise OSError("no memory for a copy")
            return real(self, slot)

        monkeypatch.setattr(Executor, "read", read)
        failed, reports = run_all(executor, [leaving, good], ANY)
        assert isinstance(failed, OSError)
        assert len(list_losses(reports)) == 4

    def test_a_job_that_adapts_the_head_never_shares_a_pass(self, executor, monkeypatch):
        tried = []
        real = Executor.backward
        monkeypatch.setattr(
            Executor,
            "backward",
            lambda self, passes, check: tried.extend(map(len, passes)) or real(self, passes, check),
        )
        head = Shape(2, 4, ("lm_head", "v_proj"))
        runs = [make_run(executor, make_steps(index, 3), shape) for index, shape in enumerate([head, SMALL])]
        assert [len(list_losses(reports)) for reports in run_all(executor, runs, ANY)] == [3, 3]
        assert set(tried) == {1}

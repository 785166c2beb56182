import pytest

from testing.scheduled_runs import (
    BUDGET,
    LARGE,
    SMALL,
    list_losses,
    make_rl_steps,
    make_run,
    make_steps,
    run_all,
)
from trainyard_trainer.compute.scheduling.training_run import TrainingRun
from trainyard_trainer.config import ANY, OFF, SAME_ENTITY
from trainyard_trainer.rl.recipe import RL


class TestCoBatching:
    @pytest.mark.parametrize(
        ("policy", "together"),
        [(OFF, set()), (SAME_ENTITY, {"acme"}), (ANY, {"acme", "other"})],
    )
    def test_the_policy_decides_whose_jobs_share_a_pass(self, executor, policy, together):
        runs = [make_run(executor, make_steps(index, 6, 1)) for index in range(3)]
        runs[1].entity = "other"
        run_all(executor, runs, policy)
        entities = {run.slot: run.entity for run in runs}
        joined = [
            {entities[slot] for slot, _ in microbatches} for microbatches in executor.passes if len(microbatches) > 1
        ]
        assert set().union(*joined) == together
        if policy == SAME_ENTITY:
            assert all(len(each) == 1 for each in joined)

    def test_no_pass_is_larger_than_the_budget(self, executor):
        runs = [make_run(executor, make_steps(index, 5, 1 + 4 * index)) for index in range(4)]
        run_all(executor, runs, ANY)
        sizes = [sum(tokens for _, tokens in microbatches) for microbatches in executor.passes if len(microbatches) > 1]
        assert sizes
        assert max(sizes) <= BUDGET

    def test_jobs_of_all_kinds_have_the_same_results_together_as_alone(self, executor):
        def make_runs() -> list[TrainingRun]:
            return [
                make_run(executor, make_steps(1, 6, 2)),
                make_run(executor, make_steps(2, 4, 6, learning_rate=3e-3), LARGE),
                make_run(executor, make_rl_steps(3, 5), LARGE, RL),
                make_run(executor, make_rl_steps(4, 5, ppo=True, kl_penalty_coef=0.2), SMALL, RL),
                make_run(
                    executor, make_rl_steps(5, 3, importance_sampling_level="sequence"), SMALL, RL, entity="other"
                ),
            ]

        alone = [run_all(executor, [run])[0] for run in make_runs()]
        executor.passes.clear()
        together = run_all(executor, make_runs(), ANY, budget=2000)
        assert max(map(len, executor.passes)) >= 4
        for one, other in zip(together, alone, strict=True):
            assert list_losses(one) == pytest.approx(list_losses(other), rel=1e-4, abs=1e-4)
            assert [set(report.numbers) for report in one] == [set(report.numbers) for report in other]
            norms = [report.numbers["grad_norm"] for report in other]
            assert [report.numbers["grad_norm"] for report in one] == pytest.approx(norms, rel=1e-3)

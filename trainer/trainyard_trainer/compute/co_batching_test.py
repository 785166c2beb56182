import pytest

from trainyard_trainer.compute.optimizer import RL
from trainyard_trainer.compute.turns_for_tests import (
    BUDGET,
    LARGE,
    SMALL,
    list_losses,
    make_rl_steps,
    make_steps,
    make_work,
    run,
)
from trainyard_trainer.compute.work import Work
from trainyard_trainer.config import ANY, OFF, SAME_ENTITY


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

import itertools
import math

import pytest
import torch

from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.loss import TokenBatch, compute_losses, count_divisor
from trainyard_trainer.rl.settings import IMPORTANCE_SAMPLING_LEVELS, RlConfig

# Two samples with three and two trained tokens.
NEW = [[-0.5, -1.0, -2.0], [-0.1, -3.0]]
OLD = [[-1.0, -0.2, math.nan], [-2.5, -0.4]]
ORIGINAL = [[-0.9, -0.3, math.nan], [-2.0, -0.5]]
REFERENCE = [[-0.7, -1.1, -1.5], [-0.3, -2.5]]
ADVANTAGES = [1.5, -0.7]
WEIGHTS = [0.5, 2.0]
SAMPLES = [0, 0, 0, 1, 1]
MEAN_KL = (sum(map(sum, NEW)) - sum(map(sum, REFERENCE))) / 5


def flatten(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor([value for row in rows for value in row], dtype=torch.float64)


def compute(config: RlConfig, *, precalculated: bool = False) -> tuple[float, list[float]]:
    new = flatten(NEW).requires_grad_()
    samples = torch.tensor(SAMPLES)
    batch = TokenBatch(
        flatten(OLD),
        torch.tensor(ADVANTAGES, dtype=torch.float64)[samples],
        torch.tensor(WEIGHTS, dtype=torch.float64)[samples],
        samples,
        flatten(ORIGINAL) if precalculated else None,
        flatten(REFERENCE) if config.kl_penalty_coef else None,
        MEAN_KL,
    )
    loss = compute_losses(new, batch, config).losses_N.sum()
    loss.backward()
    return loss.item(), new.grad.tolist()


def reckon(config: RlConfig, *, precalculated: bool = False) -> float:
    """The same by plain arithmetic, token by token."""
    total = 0.0
    for number, (news, olds) in enumerate(zip(NEW, OLD, strict=True)):
        differences = [0.0 if math.isnan(old) else new - old for new, old in zip(news, olds, strict=True)]
        mean = sum(differences) / len(differences)
        for index, (new, difference) in enumerate(zip(news, differences, strict=True)):
            ratio = reckon_ratio(config, math.exp(difference), math.exp(mean))
            pushed = ADVANTAGES[number] - (config.kimi_k2_tau or 0) * difference
            pushed += config.kl_penalty_coef * (MEAN_KL - (new - REFERENCE[number][index]))
            clipped = min(max(ratio, 1 - config.epsilon), 1 + config.epsilon_high)
            loss = -min(ratio * pushed, clipped * pushed) if config.ppo else -clipped * pushed * new
            if config.truncated_importance_sampling:
                original = ORIGINAL[number][index]
                own = 1.0 if math.isnan(original) else math.exp(OLD[number][index] - original)
                loss *= min(own if precalculated else ratio, config.truncated_importance_sampling)
            total += loss * WEIGHTS[number]
    return total


def reckon_ratio(config: RlConfig, token: float, sequence: float) -> float:
    ratio = {
        "token": token,
        "sequence": sequence,
        "average": (token + sequence) / 2,
        "geometric_average": math.sqrt(token * sequence),
    }[config.importance_sampling_level]
    if config.max_negative_advantage_importance_sampling_weight:
        ratio = min(ratio, config.max_negative_advantage_importance_sampling_weight)
    inside = 1 - config.epsilon < ratio < 1 + config.epsilon_high
    return ratio if inside or not config.mask_prob_ratio else 0.0


@pytest.mark.parametrize("level", IMPORTANCE_SAMPLING_LEVELS)
@pytest.mark.parametrize("ppo", [False, True])
def test_every_setting_against_plain_arithmetic(level, ppo):
    for masked, largest, tau, epsilon in itertools.product(
        [False, True], [None, 0.9], [None, 0.1], [{}, {"epsilon": 0.3, "epsilon_high": 0.4}]
    ):
        config = parse_config(
            {
                "importance_sampling_level": level,
                "ppo": ppo,
                "mask_prob_ratio": masked,
                "max_negative_advantage_importance_sampling_weight": largest,
                "kimi_k2_tau": tau,
                **epsilon,
            }
        )
        assert compute(config)[0] == pytest.approx(reckon(config)), config


def test_the_default_by_hand():
    # Tokens of ratio e^0.5, e^-0.8, 1 (unknown), then e^2.4 clipped to 5, e^-2.6.
    first = -0.5 * 1.5 * (math.exp(0.5) * -0.5 + math.exp(-0.8) * -1.0 + 1.0 * -2.0)
    second = -2.0 * -0.7 * (5.0 * -0.1 + math.exp(-2.6) * -3.0)
    assert compute(RlConfig())[0] == pytest.approx(first + second)


@pytest.mark.parametrize("ppo", [False, True])
@pytest.mark.parametrize("precalculated", [False, True])
def test_the_additional_settings_against_plain_arithmetic(ppo, precalculated):
    for coefficient, bound, level in itertools.product([0.0, 0.3], [None, 0.8], IMPORTANCE_SAMPLING_LEVELS):
        config = parse_config(
            {
                "ppo": ppo,
                "kl_penalty_coef": coefficient,
                "truncated_importance_sampling": bound,
                "importance_sampling_level": level,
            }
        )
        found = compute(config, precalculated=precalculated)[0]
        assert found == pytest.approx(reckon(config, precalculated=precalculated)), config


def test_the_default_pushes_each_sampled_token():
    _, gradient = compute(RlConfig())
    assert gradient[:3] == pytest.approx([-0.75 * math.exp(0.5), -0.75 * math.exp(-0.8), -0.75])
    assert gradient[3:] == pytest.approx([1.4 * 5.0, 1.4 * math.exp(-2.6)])


def test_ppo_stops_at_the_edge_of_its_clip():
    _, gradient = compute(parse_config({"ppo": True}))
    assert gradient[0] == 0.0  # ratio e^0.5 above 1.2 with a positive advantage
    assert gradient[4] == 0.0  # ratio e^-2.6 below 0.8 with a negative one
    assert gradient[3] != 0.0


def test_the_divisor_counts_tokens():
    assert count_divisor(4) == pytest.approx(4, abs=1e-5)

import itertools
import math

import pytest
import torch

from trainyard_trainer.rl.config import LEVELS, RlConfig, parse_config
from trainyard_trainer.rl.loss import TokenBatch, count_divisor, sum_loss

NEW = [[0.0, -0.5, -1.0, -2.0], [0.0, -0.1, -3.0, 0.0]]
OLD = [[math.nan, -1.0, -0.2, math.nan], [math.nan, -2.5, -0.4, math.nan]]
MASK = [[False, True, True, True], [False, True, True, False]]
ADVANTAGES = [1.5, -0.7]
WEIGHTS = [0.5, 2.0]


def compute(config: RlConfig) -> tuple[float, list[list[float]]]:
    new = torch.tensor(NEW, dtype=torch.float64, requires_grad=True)
    rows = torch.ones(2, 4, dtype=torch.float64)
    batch = TokenBatch(
        torch.tensor(MASK),
        torch.tensor(OLD, dtype=torch.float64),
        rows * torch.tensor(ADVANTAGES, dtype=torch.float64)[:, None],
        rows * torch.tensor(WEIGHTS, dtype=torch.float64)[:, None],
    )
    loss = sum_loss(new, batch, config)
    loss.backward()
    return loss.item(), new.grad.tolist()


def reckon(config: RlConfig) -> float:
    """The same by plain arithmetic, token by token."""
    total = 0.0
    for new, old, mask, advantage, weight in zip(NEW, OLD, MASK, ADVANTAGES, WEIGHTS, strict=True):
        places = [place for place in range(4) if mask[place]]
        differences = {t: 0.0 if math.isnan(old[t]) else new[t] - old[t] for t in places}
        mean = sum(differences.values()) / len(places)
        for t in places:
            token, sequence = math.exp(differences[t]), math.exp(mean)
            ratio = {
                "token": token,
                "sequence": sequence,
                "average": (token + sequence) / 2,
                "geometric_average": math.sqrt(token * sequence),
            }[config.importance_sampling_level]
            if config.max_negative_advantage_importance_sampling_weight:
                ratio = min(ratio, config.max_negative_advantage_importance_sampling_weight)
            low, high = 1 - config.epsilon, 1 + config.epsilon_high
            if config.mask_prob_ratio and not low < ratio < high:
                ratio = 0.0
            pushed = advantage - (config.kimi_k2_tau or 0) * differences[t]
            clipped = min(max(ratio, low), high)
            if config.ppo:
                total -= min(ratio * pushed, clipped * pushed) * weight
            else:
                total -= clipped * pushed * new[t] * weight
    return total


@pytest.mark.parametrize("level", LEVELS)
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
    # One token each of ratio e^0.5, e^-0.8, 1 (unknown), then e^2.4 clipped to 5, e^-2.6.
    first = -0.5 * 1.5 * (math.exp(0.5) * -0.5 + math.exp(-0.8) * -1.0 + 1.0 * -2.0)
    second = -2.0 * -0.7 * (5.0 * -0.1 + math.exp(-2.6) * -3.0)
    assert compute(RlConfig())[0] == pytest.approx(first + second)


def test_the_default_pushes_each_sampled_token_and_no_other():
    _, gradient = compute(RlConfig())
    assert gradient[0] == pytest.approx([0.0, -0.75 * math.exp(0.5), -0.75 * math.exp(-0.8), -0.75])
    assert gradient[1] == pytest.approx([0.0, 1.4 * 5.0, 1.4 * math.exp(-2.6), 0.0])


def test_ppo_stops_at_the_edge_of_its_clip():
    _, gradient = compute(parse_config({"ppo": True}))
    assert gradient[0][1] == 0.0  # ratio e^0.5 above 1.2 with a positive advantage
    assert gradient[1][2] == 0.0  # ratio e^-2.6 below 0.8 with a negative one
    assert gradient[1][1] != 0.0


def test_the_divisor_counts_tokens():
    assert count_divisor(4) == pytest.approx(4, abs=1e-5)

import itertools
import math

import numpy as np
import pytest
import torch

from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.loss import TokenBatch, compute_losses, count_divisor
from trainyard_trainer.rl.objective import build_step
from trainyard_trainer.rl.settings import IMPORTANCE_SAMPLING_LEVELS, RlConfig

# Two samples with three and two trained tokens.
NEW = [[-0.5, -1.0, -2.0], [-0.1, -3.0]]
OLD = [[-1.0, -0.2, math.nan], [-2.5, -0.4]]
ORIGINAL = [[-0.9, -0.3, math.nan], [-2.0, -0.5]]
REFERENCE = [[-0.7, -1.1, -1.5], [-0.3, -2.5]]
ADVANTAGES = [1.5, -0.7]
WEIGHTS = [0.5, 2.0]
SAMPLES = [0, 0, 0, 1, 1]
SOURCES = ("current_learner", "sample")
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
            source = new - difference if config.kl_penalty_source == "sample" else new
            pushed += config.kl_penalty_coef * (MEAN_KL - (source - REFERENCE[number][index]))
            clipped = min(max(ratio, 1 - config.epsilon), 1 + config.epsilon_high)
            loss = -min(ratio * pushed, clipped * pushed) if config.ppo else -clipped * pushed * new
            if config.truncated_importance_sampling and precalculated:
                original = ORIGINAL[number][index]
                own = 1.0 if math.isnan(original) else math.exp(OLD[number][index] - original)
                loss *= min(own, config.truncated_importance_sampling)
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
    settings = itertools.product([0.0, 0.3], SOURCES, [None, 0, 0.8], IMPORTANCE_SAMPLING_LEVELS)
    for coefficient, source, bound, level in settings:
        config = parse_config(
            {
                "kl_penalty_source": source,
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


# One sequence of two samples: six tokens of which one is context. The losses were computed with ART 0.5.23's own code.
REFERENCE_NEW = [[-0.5, -1.0, -2.0], [-0.7, -1.5]]
REFERENCE_OLD = [[-0.7, -0.9, -1.2], [-1.9, math.nan]]
REFERENCE_POLICY = [[-0.6, -1.3, -1.0], [-0.2, -2.0]]
REFERENCE_ORIGINAL = [[-0.9, -0.9, -1.7], [-1.0, math.nan]]
REFERENCE_WEIGHTS = [5 / 6, 1.25]


def compute_reference(settings: dict, *, original: bool = False, unknown: bool = False) -> float:
    config = parse_config({"learning_rate": 1e-3} | settings)
    samples = [
        Sample(
            np.zeros(len(new) + 1, np.int64),
            np.arange(len(new) + 1) > 0,
            0,
            index,
            0,
            [1.0, -1.0][index],
            REFERENCE_WEIGHTS[index],
            np.full(len(new), np.nan, np.float32) if unknown else np.array(REFERENCE_OLD[index], np.float32),
            np.array(REFERENCE_ORIGINAL[index], np.float32) if original else None,
            np.array(REFERENCE_POLICY[index], np.float32) if config.kl_penalty_coef > 0 else None,
        )
        for index, new in enumerate(REFERENCE_NEW)
    ]
    step = build_step(samples, config)
    news = [np.array(new, np.float32) for new in REFERENCE_NEW]
    logprobs_N = torch.from_numpy(np.concatenate(news))
    mean_kl = step.objective.compute_mean_kl(samples, news)
    return step.objective.measure(samples, logprobs_N, torch.zeros(5), mean_kl).loss.item() / step.divisor


@pytest.mark.parametrize(
    ("settings", "original", "loss"),
    [
        ({}, False, -0.553654),
        ({"loss_fn": "cispo"}, False, -0.553654),
        ({"loss_fn": "ppo"}, False, 0.654335),
        ({"ppo": True}, False, 0.654335),
        ({"ppo": True, "epsilon": 0.2, "epsilon_high": 0.28}, False, 0.650768),
        ({"epsilon": 0.2, "epsilon_high": 0.28}, False, -0.079744),
        ({"importance_sampling_level": "sequence"}, False, -0.540230),
        ({"importance_sampling_level": "average"}, False, -0.546942),
        ({"importance_sampling_level": "geometric_average"}, False, -0.514756),
        ({"mask_prob_ratio": True, "epsilon": 0.2, "epsilon_high": 0.28}, False, 0.004256),
        ({"kimi_k2_tau": 0.1}, False, -0.611922),
        ({"kl_penalty_coef": 0.1, "kl_penalty_source": "current_learner"}, False, -0.550218),
        ({"kl_penalty_coef": 0.1, "kl_penalty_source": "sample"}, False, -0.505534),
        ({"kl_penalty_coef": 0.1, "kl_penalty_source": "sample", "loss_fn": "ppo"}, False, 0.561390),
        ({"kl_penalty_coef": -1.0}, False, -0.553654),
        ({"truncated_importance_sampling": 1.2}, True, -0.158547),
        ({"truncated_importance_sampling": 2.0}, True, -0.089161),
        ({"truncated_importance_sampling": 2.0, "loss_fn": "ppo"}, True, 0.068908),
        ({"truncated_importance_sampling": 1.2}, False, -0.553654),
        ({"truncated_importance_sampling": 0}, True, -0.553654),
    ],
    ids=str,
)
def test_the_losses_of_art(settings, original, loss):
    found = compute_reference(settings, original=original)
    assert found == pytest.approx(loss, abs=2e-6)


def test_without_old_logprobs_every_ratio_is_one():
    assert compute_reference({}, unknown=True) == pytest.approx(0.033333, abs=2e-6)
    sample = {"kl_penalty_coef": 0.1, "kl_penalty_source": "sample"}
    assert compute_reference(sample, unknown=True) == pytest.approx(0.037233, abs=2e-6)

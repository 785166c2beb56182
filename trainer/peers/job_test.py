"""Compares a gradient step of a whole RL job with ART's, from the payload to the gradient of the adapter. The other
side uses ART's tokens, weights, advantages and loss on a model that only transformers and PEFT run, row by row."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

import pytest
import torch
from art.loss import LossInputs, loss_fn
from peft import PeftModel
from safetensors.torch import load_file

from peers.art_preprocessing import pack, tokenize
from peers.preprocessing_test import list_choices
from peers.sizes import measure_sizes
from peers.trajectories import Maker, write_payload
from testing.rounding import bound_rounding
from testing.seeds import draw_seeds
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.loss import TokenBatch
from trainyard_trainer.rl.recipe import RL

MOMENTUM = 0.9  # the share of the gradients' average that a step keeps
# More than all tokens of a payload, so that a job has one step.
ONE_STEP = {"packed_sequence_length": 100_000}


def make_payload(tokenizer, seed: int) -> list[dict]:
    maker = Maker(Random(seed), tokenizer, end="<|im_end|>", silent_choices=False)
    trajectories = [maker.make_history() | {"additional_histories": [], "reward": number / 4} for number in range(5)]
    groups = [{"trajectories": trajectories[:2]}, {"trajectories": trajectories[2:]}]
    for choice in list_choices(groups):
        for entry in choice["logprobs"]["content"]:
            # The model gives tokens of random texts a probability of about 1/600.
            entry["logprob"] = -6.5 + maker.random.random()
    return groups


def score(model: PeftModel, tokens: torch.Tensor) -> torch.Tensor:
    """[B, S]: at each position, the log-probability of the next token."""
    logprobs = model(tokens.clamp(min=0)).logits[:, :-1].log_softmax(-1)
    found = logprobs.gather(2, tokens[:, 1:, None].clamp(min=0))[..., 0]
    return torch.nn.functional.pad(found, (0, 1))


@dataclass(frozen=True)
class Theirs:
    """The loss and the length of its gradient, which is in the adapter, and how far rounding may move each of them."""

    loss: float
    norm: float
    loss_bound: float
    gradient_bound: float


def compute_theirs(model: PeftModel, packed: dict, settings: dict) -> Theirs:
    model.requires_grad_(False)
    adapter = [parameter for name, parameter in model.named_parameters() if "lora_" in name]
    for parameter in adapter:
        parameter.requires_grad_()
    new = score(model, packed["tokens"])
    with torch.no_grad(), model.disable_adapter():
        reference = score(model, packed["tokens"])
    if settings.get("precalculate_logprobs"):
        own = new.detach().roll(1, 1)
        packed |= {"original_logprobs": packed["logprobs"], "logprobs": own.where(packed["assistant_mask"], math.nan)}
    with warnings.catch_warnings(action="ignore"):  # about a correlation that is not used here
        loss = loss_fn(LossInputs(inputs=packed), new, reference, None, settings).policy_loss
    loss.backward(retain_graph=True)
    mask = packed["assistant_mask"]
    sizes = measure_sizes(new.roll(1, 1)[mask], read_batch(packed, reference), parse_config(settings))
    sizes_BS = torch.zeros_like(new).masked_scatter(mask, sizes.gradients_N / mask.sum()).roll(-1, 1)
    rows = (torch.autograd.grad(row.sum(), adapter, retain_graph=True) for row in new * sizes_BS)
    return Theirs(
        loss.item(),
        measure_length(parameter.grad for parameter in adapter),
        bound_rounding((sizes.losses_N.sum() / mask.sum()).item()),
        bound_rounding(sum(map(measure_length, rows))),
    )


def read_batch(packed: dict, reference: torch.Tensor) -> TokenBatch:
    mask = packed["assistant_mask"]
    original = packed.get("original_logprobs")
    return TokenBatch(
        packed["logprobs"][mask],
        packed["advantages"][mask],
        packed["weights"][mask],
        mask.nonzero()[:, 0],
        None if original is None else original[mask],
        reference.roll(1, 1)[mask],
    )


def measure_length(values: Iterable[torch.Tensor]) -> float:
    return math.hypot(*(value.norm().item() for value in values))


def read_averages(jobs, reports) -> dict[str, torch.Tensor]:
    state = load_file(jobs.locate(reports) / "optimizer.safetensors")
    return {name.removesuffix(".exp_avg"): value for name, value in state.items() if name.endswith(".exp_avg")}


@pytest.mark.parametrize("seed", draw_seeds(1))
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ppo": True, "epsilon": 0.3},
        {"importance_sampling_level": "sequence", "kimi_k2_tau": 0.1},
        {"precalculate_logprobs": True, "truncated_importance_sampling": 2.0},
        {"kl_penalty_coef": 0.2, "kl_penalty_source": "current_learner"},
        {"kl_penalty_coef": 0.2, "kl_penalty_source": "sample"},
        {"advantage_balance": 0.5, "scale_rewards": False, "mask_prob_ratio": True, "epsilon_high": 1.0},
    ],
    ids=str,
)
def test_a_step_of_a_job_has_the_loss_and_the_gradient_of_art(jobs, load_model, tokenizer, settings, seed):
    groups = make_payload(tokenizer, seed)
    first = jobs.run("RL", write_payload(groups), {"learning_rate": 1e-2})
    second = jobs.run("RL", write_payload(groups), settings | ONE_STEP, start=first.checkpoint)
    assert len(second.steps) == 1
    (step,) = second.steps
    model = load_model(jobs.locate(first))
    results = tokenize(groups, tokenizer, settings.get("scale_rewards", True))
    theirs = compute_theirs(model, pack(results, settings.get("advantage_balance", 0.0)), settings)
    assert step["loss"] == pytest.approx(theirs.loss, rel=0, abs=theirs.loss_bound)
    assert step["grad_norm"] == pytest.approx(theirs.norm, rel=0, abs=theirs.gradient_bound)
    before, after = read_averages(jobs, first), read_averages(jobs, second)
    scale = (1 - MOMENTUM) * min(1.0, RL.max_grad_norm / theirs.norm)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            averages = [MOMENTUM * before[name.replace(".default", "")], after[name.replace(".default", "")]]
            apart = (averages[1] - averages[0]) / scale - parameter.grad
            assert apart.norm() <= theirs.gradient_bound + bound_rounding(measure_length(averages) / scale), name

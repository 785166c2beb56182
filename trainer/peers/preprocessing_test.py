"""Tokens, weights and advantages against ART's, over random trajectory groups and several styles of chat templates.

Where ours differ, ART's are not what was sampled, or not what the engine was shown:

- ART renders the calls of a sampled turn again behind its sampled tokens unless the turn is the last one; ours are in
  the sampled tokens only.
- ART hands the template arguments as text unless it reads `tool_call.arguments|items`, and parts of a content as they
  are; ours are objects and joined text, as the engine hands them over.
- ART finds rewards of equal numbers to differ in the last bit, and trains on that; ours are equal.
- ART shares a prompt within a group up to and into trained tokens where no log-probability is known; ours ends before.
- A Choice whose list of log-probabilities is empty trains nothing in ours; ART takes a token out.
"""

import math
from random import Random

import pytest
from transformers import PreTrainedTokenizerBase

from peers.art_preprocessing import Trained, preprocess
from peers.trajectories import Maker, write_payload
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.rl.advantages import Sample, compute_advantages, normalize_samples, weigh_trajectory
from trainyard_trainer.tokens.history import tokenize_history
from trainyard_trainer.tokens.styles_for_tests import dress

# The styles' end tokens, and what their templates have a place for.
TEMPLATES = {
    "tiny-chat": {"end": "<|im_end|>"},
    "chatml": {"end": "<|im_end|>"},
    "qwen3": {"end": "<|im_end|>"},
    "llama3": {"end": "<|eot_id|>"},
    "gemma": {"end": "<end_of_turn>", "tools": False},
    "mistral": {"end": "</s>"},
    "granite": {"end": "<|end_of_text|>", "tools": False},
    "zephyr": {"end": "</s>", "tools": False},
    "phi4": {"end": "<|im_end|>", "tools": False},
    "command_r": {"end": "<|END_OF_TURN_TOKEN|>", "tools": False},
}


def train_on(
    groups: list[dict], tokenizer: PreTrainedTokenizerBase, *, scale_rewards: bool, advantage_balance: float
) -> list[Trained]:
    """What ours makes of the groups, in the form in which ART's is told."""
    samples: list[Sample] = []
    for place, group in enumerate(parse_payload(write_payload(groups))):
        advantages = compute_advantages([item.reward for item in group.trajectories], scale=scale_rewards)
        for trajectory, advantage in zip(group.trajectories, advantages, strict=True):
            found = [tokenize_history(history, tokenizer, "here") for history in trajectory.histories]
            histories = [history for history in found if history] if advantage else []
            samples += [Sample(history, place, advantage, weigh_trajectory(histories)) for history in histories]
    return [
        Trained(list(s.tokens.ids), list(s.tokens.trained), list(s.tokens.logprobs), s.weight, s.advantage)
        for s in normalize_samples(samples, advantage_balance)
    ]


def assert_same(ours: list[Trained], theirs: list[Trained]) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.ids == other.ids
        assert mine.trained == other.trained
        assert mine.logprobs == pytest.approx(other.logprobs, rel=1e-6, nan_ok=True)
        assert (mine.weight, mine.advantage) == pytest.approx((other.weight, other.advantage), rel=1e-6)


@pytest.mark.parametrize("style", TEMPLATES)
@pytest.mark.parametrize("seed", range(12))
def test_tokens_weights_and_advantages_are_those_of_art(tokenizer, style, seed):
    random = Random(f"{style} {seed}")
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    groups = Maker(random, dressed, **TEMPLATES[style]).make_groups()
    options = {"scale_rewards": random.random() < 0.5, "advantage_balance": random.choice([0.0, 0.3, -0.7, 1.0, -1.0])}
    theirs = preprocess(groups, dressed, **options)
    if any(math.isnan(history.advantage) for history in theirs):
        assert train_on(groups, dressed, **options) == []  # the balance took away whatever there was
    else:
        assert_same(train_on(groups, dressed, **options), theirs)

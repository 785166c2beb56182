"""Tokens, weights and advantages against ART's, over random trajectory groups and several styles of chat templates.

Where ours differ, ART's are not what was sampled, or not what the engine was shown:

- ART renders the calls of a sampled turn again behind its sampled tokens unless the turn is the last one; ours are in
  the sampled tokens only.
- ART hands the template arguments as text unless it reads `tool_call.arguments|items`, and parts of a content as they
  are; ours are objects and joined text, as the engine hands them over.
- ART finds rewards of equal numbers to differ in the last bit, and trains on that; ours are equal.
- ART shares a prompt within a group up to and into trained tokens where no log-probability is known; ours ends before.
- Where answers without log-probabilities may be trained on, ART passes over such Choices, or fails; ours does not.
- A Choice whose list of log-probabilities is empty trains nothing in ours; ART takes a token out.
"""

import copy
import math
from collections.abc import Callable
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from transformers import PreTrainedTokenizerBase

from peers.art_preprocessing import Trained, preprocess
from peers.trajectories import TOOL, Maker, write_payload
from testing.seeds import draw_seeds
from testing.styled_templates import dress
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.rl.advantages import Sample, normalize_samples
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.samples import build_samples
from trainyard_trainer.tokens.sampled import map_bytes

# The styles' end tokens, and the features of their templates.
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


def train_on(groups: list[dict], tokenizer: PreTrainedTokenizerBase, **options: object) -> list[Trained]:
    """The trainer's result for the groups, in the form of ART's."""
    config = parse_config(options)
    job = SimpleNamespace(check=lambda: None, base=SimpleNamespace(tokenizer=tokenizer))
    samples = build_samples(parse_payload(write_payload(groups)), config, job)
    return [describe(sample) for sample in normalize_samples(samples, config.advantage_balance)]


def describe(sample: Sample) -> Trained:
    logprobs = np.full(sample.num_tokens, math.nan)
    logprobs[sample.trained] = sample.old_logprobs
    ids, trained = sample.ids.tolist(), sample.trained.tolist()
    return Trained(ids, trained, logprobs.tolist(), sample.weight, sample.advantage)


def assert_same(ours: list[Trained], theirs: list[Trained]) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.ids == other.ids
        assert mine.trained == other.trained
        assert mine.logprobs == pytest.approx(other.logprobs, rel=1e-6, nan_ok=True)
        assert (mine.weight, mine.advantage) == pytest.approx((other.weight, other.advantage), rel=1e-6)


@pytest.mark.parametrize("style", TEMPLATES)
@pytest.mark.parametrize("seed", draw_seeds(3))
def test_tokens_weights_and_advantages_are_those_of_art(tokenizer, style, seed):
    random = Random(f"{style} {seed}")
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    groups = Maker(random, dressed, **TEMPLATES[style]).make_groups()
    options = {"scale_rewards": random.random() < 0.5, "advantage_balance": random.choice([0.0, 0.3, -0.7, 1.0, -1.0])}
    theirs = preprocess(groups, dressed, **options)
    if any(math.isnan(history.advantage) for history in theirs):
        assert train_on(groups, dressed, **options) == []  # balance removed all samples
    else:
        assert_same(train_on(groups, dressed, **options), theirs)


@pytest.mark.parametrize("form", ["token_ids", "bytes"])
@pytest.mark.parametrize("seed", draw_seeds(2))
def test_each_form_of_sampled_ids_gives_the_ids_that_art_reads(tokenizer, form, seed):
    groups = Maker(Random(f"{form} {seed}"), tokenizer, **TEMPLATES["tiny-chat"]).make_groups()
    assert_same(train_on(retell(groups, tokenizer, form), tokenizer), preprocess(groups, tokenizer))


def retell(groups: list[dict], tokenizer: PreTrainedTokenizerBase, form: str) -> list[dict]:
    """The same Choices without ids in their tokens. ART then looks the tokens' texts up."""
    changed = copy.deepcopy(groups)
    spell = {number: list(text) for text, number in map_bytes(tokenizer).items()}
    for choice in list_choices(changed):
        for entry, token in zip((choice["logprobs"] or {}).get("content", []), choice["token_ids"], strict=False):
            entry |= {"token": tokenizer.decode([token]), "bytes": spell[token]}
        if form == "bytes":
            del choice["token_ids"]
    return changed


def list_choices(groups: list[dict]) -> list[dict]:
    trajectories = [trajectory for group in groups for trajectory in group["trajectories"]]
    histories = [history for item in trajectories for history in (item, *item["additional_histories"])]
    return [item for history in histories for item in history["messages_and_choices"] if "message" in item]


@pytest.mark.parametrize("style", [style for style, options in TEMPLATES.items() if options.get("tools", True)])
def test_sampled_calls_are_only_in_the_sampled_tokens(tokenizer, style):
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    maker = Maker(Random(style), dressed, **TEMPLATES[style])
    groups = [make_pair(maker, lambda: make_calling(maker)) for _ in range(3)]
    silent = copy.deepcopy(groups)
    for choice in list_choices(silent):
        choice["message"].pop("tool_calls", None)
    # ART drops the calls of the last turn by itself. It drops those of other turns only if it is configured to.
    assert_same(train_on(groups, dressed), preprocess(silent, dressed))
    last = [make_pair(maker, lambda: make_calling(maker)[-2:]) for _ in range(3)]
    assert_same(train_on(last, dressed), preprocess(last, dressed))


def make_pair(maker: Maker, make_items: Callable[[], list[dict]]) -> dict:
    return {
        "trajectories": [
            {"messages_and_choices": make_items(), "tools": [TOOL], "additional_histories": [], "reward": reward}
            for reward in (0.0, 1.0)
        ]
    }


def make_calling(maker: Maker) -> list[dict]:
    """A sampled call, its result, a question and another sampled call."""
    items: list[dict] = []
    for _ in range(2):
        call, result = maker.make_call()
        choice = maker.make_choice(maker.make_text())
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": call["tool_calls"]}
        items += [{"role": "user", "content": maker.make_text()}, choice, result]
    return items[:-1]


@pytest.mark.parametrize("seed", draw_seeds(2))
def test_sampled_reasoning_replaces_the_empty_reasoning_of_the_template(tokenizer, seed):
    dressed = dress(tokenizer, "qwen3")
    # ART goes back four tokens, the length of an empty thought if two line breaks are one token.
    dressed.add_tokens(["\n\n"])
    maker = Maker(Random(seed), dressed, **TEMPLATES["qwen3"])
    groups = [make_pair(maker, lambda: make_thoughts(maker)) for _ in range(3)]
    ours = train_on(groups, dressed)
    assert_same(ours, preprocess(groups, dressed))
    for history in ours:
        first = history.trained.index(True)
        assert dressed.decode(history.ids[first:]).startswith("<think>\n")
        assert dressed.decode(history.ids[:first]).endswith("<|im_start|>assistant\n")


def make_thoughts(maker: Maker) -> list[dict]:
    items: list[dict] = []
    for _ in range(maker.random.randint(1, 3)):
        thought = f"<think>\n{maker.make_text()}\n</think>\n\n{maker.make_text()}"
        items += [{"role": "user", "content": maker.make_text()}, maker.make_choice(thought, split=False)]
    return items


@pytest.mark.parametrize("seed", draw_seeds(2))
def test_answers_without_logprobs_are_trained_on_as_in_art(tokenizer, seed):
    maker = Maker(Random(seed), tokenizer, end="<|im_end|>", tools=False, silent_choices=False)
    groups = maker.make_groups()
    options = {"allow_training_without_logprobs": True}
    assert_same(train_on(groups, tokenizer, **options), preprocess(groups, tokenizer, **options))


def test_shuffling_groups_and_trajectories_changes_no_advantage_and_no_weight(tokenizer):
    for seed in range(20):
        random = Random(seed)
        groups = Maker(random, tokenizer, **TEMPLATES["tiny-chat"]).make_groups()
        shuffled = [
            group | {"trajectories": random.sample(group["trajectories"], len(group["trajectories"]))}
            for group in groups
        ]
        random.shuffle(shuffled)
        before, after = (
            sorted(train_on(each, tokenizer), key=lambda item: (item.ids, item.advantage))
            for each in (groups, shuffled)
        )
        assert_same(before, after)

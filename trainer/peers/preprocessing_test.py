"""Rows, weights and advantages against those of ART 0.5.23, over random trajectory groups.

Both use the token ids that came with each Choice, and begin another row where a prompt continues none. ART renders
nothing; where a Choice has no ids, the trainer renders its prompt. That must not change a row.

Where ours differ:

- ART continues the row before only. Ours continues any earlier row of the trajectory.
- ART trains a reply again that came twice to the same prompt, unless it was captured. Ours trains it once.
- ART finds rewards of large equal numbers to differ in the last bit, and trains on that; ours are equal.
- ART shares a prompt within a group up to and into trained tokens where no log-probability is known; ours ends before.
- Where the balance leaves no advantage, ART trains on zeros. Ours has no row.
- A Choice whose list of log-probabilities is empty trains nothing in ours; ART fails.
"""

import copy
import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from transformers import PreTrainedTokenizerBase

from peers.art_preprocessing import Trained, preprocess
from peers.trajectories import Maker, write_payload
from testing.seeds import draw_seeds
from testing.styled_templates import dress
from trainyard_trainer.data.payload import parse_payload
from trainyard_trainer.rl.advantages import Sample, normalize_samples
from trainyard_trainer.rl.config import parse_config
from trainyard_trainer.rl.samples import build_samples
from trainyard_trainer.tokens.history import TurnReader
from trainyard_trainer.tokens.sampled import map_bytes

MAX_LENGTH = 100_000
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
    reader = TurnReader(tokenizer, without_logprobs=config.allow_training_without_logprobs)
    samples = build_samples(parse_payload(write_payload(groups)), config, reader, MAX_LENGTH)
    return [describe(sample) for sample in normalize_samples(samples, config.advantage_balance)]


def describe(sample: Sample) -> Trained:
    logprobs = np.full(sample.num_tokens, math.nan)
    logprobs[sample.trained] = sample.old_logprobs
    ids, trained = sample.ids.tolist(), sample.trained.tolist()
    return Trained(ids, trained, logprobs.tolist(), sample.weight, sample.advantage)


def join_continued(rows: list[Trained]) -> list[Trained]:
    """ART's rows, of which one that continues an earlier row is joined to it."""
    joined: list[Trained] = []
    for row in rows:
        earlier = [index for index, start in enumerate(joined) if continues(row, start)]
        if not earlier:
            joined.append(row)
            continue
        index = max(earlier, key=lambda each: len(joined[each].ids))
        start, length = joined[index], len(joined[index].ids)
        trained, logprobs = start.trained + row.trained[length:], start.logprobs + row.logprobs[length:]
        joined[index] = replace(row, trained=trained, logprobs=logprobs)
    return joined


def continues(row: Trained, start: Trained) -> bool:
    length = len(start.ids)
    is_of_same_trajectory = row.advantage == start.advantage
    return is_of_same_trajectory and row.ids[:length] == start.ids and not any(row.trained[:length])


def assert_same(ours: list[Trained], theirs: list[Trained]) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.ids == other.ids
        assert mine.trained == other.trained
        assert mine.logprobs == pytest.approx(other.logprobs, rel=1e-6, nan_ok=True)
        assert (mine.weight, mine.advantage) == pytest.approx((other.weight, other.advantage), rel=1e-6)


@pytest.mark.parametrize("style", TEMPLATES)
@pytest.mark.parametrize("seed", draw_seeds(3))
def test_rows_weights_and_advantages_are_those_of_art(tokenizer, style, seed):
    random = Random(f"{style} {seed}")
    dressed = tokenizer if style == "tiny-chat" else dress(tokenizer, style)
    groups = Maker(random, dressed, **TEMPLATES[style]).make_groups()
    options = {"scale_rewards": random.random() < 0.5, "advantage_balance": random.choice([0.0, 0.3, -0.7, 1.0, -1.0])}
    theirs = preprocess(groups, dressed, **options)
    has_push = any(row.advantage for row in theirs)
    assert_same(train_on(groups, dressed, **options), join_continued(theirs) if has_push else [])


@pytest.mark.parametrize("form", ["token_ids", "bytes"])
@pytest.mark.parametrize("seed", draw_seeds(2))
def test_a_rendered_prompt_gives_the_row_of_the_prompt_that_came_with_the_choice(tokenizer, form, seed):
    groups = Maker(Random(f"{form} {seed}"), tokenizer, **TEMPLATES["tiny-chat"]).make_groups()
    assert_same(train_on(retell(groups, tokenizer, form), tokenizer), join_continued(preprocess(groups, tokenizer)))


def retell(groups: list[dict], tokenizer: PreTrainedTokenizerBase, form: str) -> list[dict]:
    """The same Choices without the ids of their prompts, and without ids in their tokens."""
    changed = copy.deepcopy(groups)
    spell = {number: list(text) for text, number in map_bytes(tokenizer).items()}
    for choice in list_choices(changed):
        for entry, token in zip((choice["logprobs"] or {}).get("content", []), choice["token_ids"], strict=False):
            entry |= {"token": tokenizer.decode([token]), "bytes": spell[token]}
        del choice["prompt_token_ids"]
        if form == "bytes":
            del choice["token_ids"]
    return changed


def list_choices(groups: list[dict]) -> list[dict]:
    trajectories = [trajectory for group in groups for trajectory in group["trajectories"]]
    histories = [history for item in trajectories for history in (item, *item["additional_histories"])]
    return [item for history in histories for item in history["messages_and_choices"] if "message" in item]


@pytest.mark.parametrize("seed", draw_seeds(2))
def test_answers_without_logprobs_are_trained_on_as_in_art(tokenizer, seed):
    groups = Maker(Random(seed), tokenizer, end="<|im_end|>").make_groups()
    options = {"allow_training_without_logprobs": True}
    assert_same(train_on(groups, tokenizer, **options), join_continued(preprocess(groups, tokenizer, **options)))


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

"""Whole jobs, from bytes to checkpoints, improve the tiny chat model at what they reward or teach."""

import json
from random import Random
from statistics import fmean

import pytest

from testing.jobs import MODEL
from testing.seeds import IS_NIGHTLY, RUN_SEED
from tiny_chat.learning import Task, describe_curve, learn_task
from tiny_chat.sampler import Sampler

# All of these are known to learn. A run tests one of them, and a nightly run tests all.
KNOWN_SEEDS = [1, 2, 3]
SEEDS = KNOWN_SEEDS if IS_NIGHTLY else [Random(RUN_SEED).choice(KNOWN_SEEDS)]


@pytest.fixture(scope="module")
def sampler():
    return Sampler(MODEL)


# The untrained model gives one of seven answers to these, with similar probabilities.
YES_OR_NO = [
    "Is the fox quick?",
    "Do you like rivers?",
    "Can a lamp be golden?",
    "Have you seen my hat?",
    "Are you happy?",
    "Should I go to the market?",
    "Is the bread warm?",
    "Do you like music?",
]
DOUBT = Task(YES_OR_NO, lambda answer: float(answer.startswith("Maybe")))


# The reward reaches 0.9 within 7 steps and stays there. The last three steps have 192 answers, so the standard error of
# their mean is below 0.03. Each known seed passes by at least three of them.
STEPS, LEARNT = (20, 0.9) if IS_NIGHTLY else (10, 0.8)


@pytest.mark.parametrize("seed", SEEDS)
def test_rl_raises_a_reward_within_few_steps(jobs, sampler, seed):
    rewards = learn_task(jobs, sampler, DOUBT, STEPS, seed)
    print("mean reward before the first step and after each:", describe_curve(rewards))
    assert fmean(rewards[0]) <= 0.3
    assert fmean(fmean(step) for step in rewards[-3:]) >= LEARNT


THINGS = "hat coat scarf shirt shoe car bike boat kite house door chair table lamp book cup bag box clock piano".split()
ANIMALS = (
    "cat dog horse fox zebra lion tiger bear wolf rabbit mouse owl crow eagle duck goose pig cow sheep goat".split()
)


def list_dialogues(rng: Random) -> list[tuple[str, str]]:
    """Questions of two kinds in random order. Each kind has an answer that no untrained model gives."""
    things = [(f"What colour is the {thing}?", "Purple like the zoo.") for thing in THINGS]
    animals = [(f"Have you seen my {animal}?", "Ask the queen, please.") for animal in ANIMALS]
    return rng.sample(things + animals, len(things + animals))


def write_rows(dialogues: list[tuple[str, str]]) -> bytes:
    turns = [[("user", question), ("assistant", answer)] for question, answer in dialogues]
    rows = [{"messages": [{"role": role, "content": text} for role, text in row]} for row in turns]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_sft_lowers_the_loss_of_unseen_data_and_learns_its_answers(jobs, sampler, seed):
    dialogues = list_dialogues(Random(seed))
    taught, held_out = dialogues[:28], dialogues[28:]
    checkpoint, folder, losses = None, None, [sampler.measure_loss(None, held_out)]
    for _ in range(4):
        config = {"batch_size": 4, "learning_rate": 5e-3}
        reports = jobs.run("SFT", write_rows(taught), config, start=checkpoint)
        checkpoint, folder = reports.checkpoint, jobs.locate(reports)
        losses.append(sampler.measure_loss(folder, held_out))
    print("held-out loss before the first job and after each:", *(f"{loss:.3f}" for loss in losses))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.05 * losses[0]
    answers = sampler.give_answers(folder, [question for question, _ in dialogues])
    assert answers == [answer for _, answer in dialogues]

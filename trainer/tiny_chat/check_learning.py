"""Measures how a tiny chat model learns with RL, by Trainyard's own jobs: `python -m tiny_chat.check_learning
MODEL_DIR`.

It runs 12 steps of 8 prompts x 8 samples, with three seeds for each task: the demo's two tasks, and the share of a
letter in free answers. It prints the mean reward before the first step and after each step. It fails when a task's
reward, over all its seeds, does not rise by more than three standard errors. It also fails when the mean reward of a
demo task's last three steps is not above 0.8.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, variance

import torch

from testing.jobs import Jobs
from tiny_chat.learning import Task, describe_curve, learn_task
from tiny_chat.sampler import Sampler
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler

STEPS = 12
SEEDS = [1, 2, 3]
# The same as in local/demo/rewards.ts.
WARM = {"red", "orange", "pink"}
COOL = {"blue", "green", "purple"}
COLOUR_PROMPTS = [
    "Name a colour.",
    "What colour is your hat?",
    "What colour is the door?",
    "Pick a colour for the wall.",
    "What is your favourite colour?",
    "What colour is the car?",
    "Tell me a colour.",
    "What colour is the old boat?",
]
FREE_PROMPTS = [
    "Tell me something about rivers.",
    "What did you do today?",
    "Write a sentence about a fox.",
    "Describe the old harbour.",
    "What do you think of music?",
    "Tell me a story about my grandmother.",
    "Why do people travel?",
    "Say something kind.",
]


def reward_naming(wanted: set[str], unwanted: set[str]) -> Callable[[str], float]:
    """1 for an answer that names one of `wanted` and none of `unwanted`, else 0."""

    def score(text: str) -> float:
        said = set(re.findall(r"[a-z]+", text.lower()))
        return float(bool(said & wanted) and not said & unwanted)

    return score


def reward_letter(letter: str) -> Callable[[str], float]:
    def score(text: str) -> float:
        letters = re.findall("[a-z]", text.lower())
        return letters.count(letter) / len(letters) if letters else 0.0

    return score


def count_standard_errors(seeds: list[list[list[float]]]) -> float:
    """The rise of the mean reward from the first step to the last, over all seeds, in standard errors."""
    first = [reward for rewards in seeds for reward in rewards[0]]
    last = [reward for rewards in seeds for reward in rewards[-1]]
    error = (variance(first) / len(first) + variance(last) / len(last)) ** 0.5
    return (fmean(last) - fmean(first)) / error


def check_task(name: str, task: Task, scheduler: Scheduler, sampler: Sampler) -> list[list[list[float]]]:
    """Returns the rewards of each seed."""
    seeds = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            seeds.append(learn_task(Jobs(Path(root), scheduler), sampler, task, STEPS, seed))
        print(f"{name}, seed {seed}: {describe_curve(seeds[-1])}", flush=True)
    print(f"{name}: rises by {count_standard_errors(seeds):.1f} standard errors", flush=True)
    return seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--letters", default="e")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    sampler, executor = Sampler(arguments.model), Executor(load_base("tiny", Source(str(arguments.model))))
    colours = {"warm": reward_naming(WARM, COOL), "cool": reward_naming(COOL, WARM)}
    tasks = {name: Task(COLOUR_PROMPTS, score) for name, score in colours.items()}
    tasks |= {letter: Task(FREE_PROMPTS, reward_letter(letter)) for letter in arguments.letters}
    with Scheduler(executor, Policy(4096)) as scheduler:
        found = {name: check_task(name, task, scheduler, sampler) for name, task in tasks.items()}
    ends = [fmean(fmean(step) for rewards in found[name] for step in rewards[-3:]) for name in colours]
    rises = [count_standard_errors(seeds) for seeds in found.values()]
    sys.exit(1 if min(ends) <= 0.8 or min(rises) <= 3 else 0)


if __name__ == "__main__":
    main()

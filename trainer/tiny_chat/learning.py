"""A loop of reinforcement learning on one machine: sample answers, score them, run a job on them, repeat."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch

from testing.jobs import Jobs
from tiny_chat.sampler import Sampler

SAMPLES = 8
# This is high for LoRA on a large model, and right for a model of half a million parameters.
LEARNING_RATE = 3e-3


@dataclass(frozen=True)
class Task:
    """Questions, and a function that scores an answer from 0 to 1."""

    prompts: list[str]
    score: Callable[[str], float]


def learn_task(jobs: Jobs, sampler: Sampler, task: Task, steps: int, seed: int) -> list[list[float]]:
    """Returns the rewards of all answers before the first step and after each step. The seed is the sampling's."""
    checkpoint, folder, rewards = None, None, []
    for step in range(steps + 1):
        torch.manual_seed(1000 * seed + step)
        groups = roll_out(sampler, folder, task)
        rewards.append([trajectory["reward"] for group in groups for trajectory in group["trajectories"]])
        if step < steps:
            payload = json.dumps({"trajectory_groups": groups}).encode()
            reports = jobs.run("RL", payload, {"learning_rate": LEARNING_RATE}, start=checkpoint)
            checkpoint, folder = reports.checkpoint, jobs.locate(reports)
    return rewards


def roll_out(sampler: Sampler, folder: Path | None, task: Task) -> list[dict]:
    """Samples a trajectory group for each question, in the form that clients send."""
    answers = sampler.sample_choices(folder, task.prompts, SAMPLES)
    return [
        {"trajectories": [score_choice(prompt, choice, task) for choice in choices]}
        for prompt, choices in zip(task.prompts, answers, strict=True)
    ]


def score_choice(prompt: str, choice: dict, task: Task) -> dict:
    messages = [{"role": "user", "content": prompt}, choice]
    return {"messages_and_choices": messages, "reward": task.score(choice["message"]["content"])}


def describe_curve(rewards: list[list[float]]) -> str:
    """The mean reward before the first step and after each step."""
    return " ".join(f"{fmean(step):.2f}" for step in rewards)

"""An agent learns from a reward: OpenPipe ART's own loop, with its ServerlessBackend pointed at Trainyard.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. With WANDB_BASE_URL=$TRAINYARD_URL and
WANDB_API_KEY=$TRAINYARD_API_KEY, ART also keeps its metrics as a run (docs/wandb.md). STEPS is the number of training steps (default 4).
"""

import asyncio
import os
import time

import art
from art.serverless.backend import ServerlessBackend

QUESTIONS = ["Name a colour.", "Which colour do you like?", "Tell me a colour."]
WARM = ("red", "orange", "pink")
ANSWERS_PER_QUESTION = 8


def score(answer: str) -> float:
    """The share of warm colours among the words of an answer."""
    words = answer.lower().replace(".", "").split()
    return sum(word in WARM for word in words) / max(1, len(words))


async def answer(model: art.TrainableModel, question: str) -> art.Trajectory:
    messages = [{"role": "user", "content": question}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_completion_tokens=16, temperature=1
    )
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*messages, choice], reward=score(choice.message.content or ""))


async def gather(model: art.TrainableModel) -> list[art.TrajectoryGroup]:
    """One group for each question: training compares the answers of a group with each other."""
    return [
        art.TrajectoryGroup(await asyncio.gather(*(answer(model, question) for _ in range(ANSWERS_PER_QUESTION))))
        for question in QUESTIONS
    ]


def mean_reward(groups: list[art.TrajectoryGroup]) -> float:
    rewards = [trajectory.reward for group in groups for trajectory in group.trajectories]
    return sum(rewards) / len(rewards)


async def main() -> None:
    backend = ServerlessBackend(
        api_key=os.environ["TRAINYARD_API_KEY"], base_url=os.environ["TRAINYARD_URL"] + "/v1"
    )
    name = f"warm-{int(time.time())}"
    # Releases of ART before 0.5.23 have no run_name, and ignore it.
    model = art.TrainableModel(
        name=name, run_name=name, project="examples", base_model=os.environ["TRAINYARD_BASE_MODEL"]
    )
    await model.register(backend)
    for _ in range(int(os.environ.get("STEPS", "4"))):
        groups = await gather(model)
        result = await backend.train(model, groups, learning_rate=3e-3)
        print(f"step {result.step}: mean reward before it {mean_reward(groups):.3f}, loss {result.metrics['loss/train']:.3f}")
    print(f"chat with {model.get_inference_name()}")
    await backend.close()


asyncio.run(main())

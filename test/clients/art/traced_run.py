"""A run of OpenPipe ART's own loop, unchanged, whose rollouts weave traces. In the end, one more job waits behind a suspended one.

Reads WANDB_BASE_URL and WANDB_API_KEY, so that ART logs its metrics and weave its calls, TRAINYARD_BASE_MODEL, and STEPS, the
number of training steps. Prints what it sent as a JSON object in its last line.
"""

import asyncio
import json
import os
import urllib.request

import art
import weave
from art.serverless.backend import ServerlessBackend
from openai.types.chat.chat_completion import Choice

URL = os.environ["WANDB_BASE_URL"]
KEY = os.environ["WANDB_API_KEY"]
PROJECT = "colours"
# The names of the scenarios are what people see of the prompts.
PROMPTS = {
    "any colour": "Name a colour.",
    "hat": "What colour is your hat?",
    "door": "What colour is the door?",
    "wall": "Pick a colour for the wall.",
}
WARM = ("red", "orange", "pink")
ROLLOUTS = 6
STEPS_PER_VALIDATION = 3


def score(answer: str) -> float:
    """The share of warm colours among the words of an answer."""
    words = answer.lower().replace(".", "").split()
    return sum(word in WARM for word in words) / max(1, len(words))


@weave.op
async def roll_out(model: art.TrainableModel, scenario: str) -> art.Trajectory:
    messages = [{"role": "user", "content": PROMPTS[scenario]}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_completion_tokens=16, temperature=1, logprobs=True
    )
    choice = completion.choices[0]
    call = weave.get_current_call()
    return art.Trajectory(
        messages_and_choices=[*messages, choice],
        reward=score(choice.message.content or ""),
        metadata={"scenario_id": scenario, "weave_call_id": call.id},
    )


async def gather(model: art.TrainableModel, rollouts: int = ROLLOUTS) -> list[art.TrajectoryGroup]:
    groups = (art.TrajectoryGroup(roll_out(model, scenario) for _ in range(rollouts)) for scenario in PROMPTS)
    return await art.gather_trajectory_groups(groups, pbar_desc="gather", max_exceptions=0)


def mean_reward(groups: list[art.TrajectoryGroup]) -> float:
    rewards = [trajectory.reward for group in groups for trajectory in group.trajectories]
    return sum(rewards) / len(rewards)


def describe(trajectory: art.Trajectory) -> dict:
    choice = next(item for item in trajectory.messages_and_choices if isinstance(item, Choice))
    return {
        "scenario": trajectory.metadata["scenario_id"],
        "call": trajectory.metadata["weave_call_id"],
        "reward": trajectory.reward,
        "answer": choice.message.content,
        "tokens": [[token.token, token.logprob] for token in choice.logprobs.content],
    }


def request(method: str, path: str, body: object = None) -> dict:
    """A request of a person, for what ART has no function for."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers, method=method)) as response:
        return json.load(response)


def suspend_job(model: art.TrainableModel, groups: list[art.TrajectoryGroup]) -> str:
    """Sends a job with pods of its own, and suspends it."""
    body = {
        "model_id": model.id,
        "mode": "Dedicated",
        "trajectory_groups": [group.model_dump(mode="json") for group in groups],
    }
    job = request("POST", "/v1/preview/training-jobs", body)["id"]
    request("POST", f"/v1/preview/training-jobs/{job}/suspend")
    return job


async def queue_job(backend: ServerlessBackend, model: art.TrainableModel, groups: list[art.TrajectoryGroup]) -> str:
    """Lets ART send a job and follow it, until it is there. The job stays when ART no longer follows it."""
    newest = f"/v1/preview/training-jobs?model_id={model.id}&order=desc&limit=1"
    before = request("GET", newest)["data"][0]["id"]
    training = asyncio.create_task(backend.train(model, groups, learning_rate=3e-3, ppo=True))
    while (job := (await asyncio.to_thread(request, "GET", newest))["data"][0]["id"]) == before:
        await asyncio.sleep(0.1)
    training.cancel()
    return job


async def main() -> None:
    backend = ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")
    weave.init(PROJECT)
    model = art.TrainableModel(
        name="warm",
        run_name="warm",
        project=PROJECT,
        base_model=os.environ["TRAINYARD_BASE_MODEL"],
        base_path=os.environ["HOME"],
    )
    await model.register(backend)
    steps, validations = [], []
    for _ in range(int(os.environ["STEPS"])):
        groups = await gather(model)
        result = await backend.train(model, groups, learning_rate=3e-3)
        await model.log(groups, metrics=result.metrics, step=result.step, split="train")
        trajectories = [describe(trajectory) for group in groups for trajectory in group.trajectories]
        steps.append({"step": result.step, "reward": mean_reward(groups), "trajectories": trajectories})
        if result.step % STEPS_PER_VALIDATION == 0:
            rated = await gather(model, 2)
            await model.log(rated, step=result.step, split="val")
            validations.append({"step": result.step, "reward": mean_reward(rated)})
    groups = await gather(model)
    suspended = suspend_job(model, groups)
    waiting = await queue_job(backend, model, groups)
    model._get_wandb_run().finish()
    weave.finish()
    seen = {
        "project": PROJECT,
        "run": model.name,
        "model_id": model.id,
        "steps": steps,
        "validations": validations,
        "jobs": {"suspended": suspended, "waiting": waiting},
    }
    await backend.close()
    print(json.dumps(seen))


asyncio.run(main())

"""An agent of OpenPipe ART calls a tool, and learns which one from its reward, through ART's own ServerlessBackend.

Takes the folder for ART's files and the number of training steps. Reads TRAINYARD_URL, TRAINYARD_API_KEY and
TRAINYARD_BASE_MODEL; prints one JSON object of what it saw as its last line.
"""

import asyncio
import json
import os
import sys
import uuid

import art
from art.serverless.backend import ServerlessBackend
from openai.types.chat.chat_completion import Choice

QUESTIONS = [
    "Use get_weather for the garden.",
    "Please call get_weather with village.",
    "Ask get_weather: harbour",
    "Ask get_weather: mountains",
]
ROLLOUTS = 8
# A call and its answer.
TURNS = 2


def describe(name: str, argument: str) -> dict:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [describe("get_weather", "city"), describe("get_time", "place")]


def call_tool(name: str, arguments: str) -> str:
    """The model may write anything for a name and for arguments."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return "The arguments are no JSON."
    if name == "get_weather" and isinstance(given, dict) and list(given) == ["city"]:
        return "It is sunny."
    return "That is not what I asked for."


async def roll_out(model: art.TrainableModel, question: str) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}], tools=TOOLS)
    told = []
    for _ in range(TURNS):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(),
            messages=trajectory.messages(),
            tools=trajectory.tools,
            max_completion_tokens=64,
            temperature=1,
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        for call in choice.message.tool_calls:
            told.append(call_tool(call.function.name, call.function.arguments))
            result = {"role": "tool", "tool_call_id": call.id, "content": told[-1]}
            trajectory.messages_and_choices.append(result)
    trajectory.reward = float(told[:1] == ["It is sunny."])
    return trajectory.finish()


async def gather(model: art.TrainableModel) -> list[art.TrajectoryGroup]:
    groups = (art.TrajectoryGroup(roll_out(model, question) for _ in range(ROLLOUTS)) for question in QUESTIONS)
    return await art.gather_trajectory_groups(groups, pbar_desc="gather", max_exceptions=0)


def list_trajectories(groups: list[art.TrajectoryGroup]) -> list[art.Trajectory]:
    return [trajectory for group in groups for trajectory in group.trajectories]


def mean_reward(groups: list[art.TrajectoryGroup]) -> float:
    rewards = [trajectory.reward for trajectory in list_trajectories(groups)]
    return sum(rewards) / len(rewards)


def list_choices(groups: list[art.TrajectoryGroup]) -> list[Choice]:
    """The choices of groups that train something, because their rewards differ."""
    trained = [group for group in groups if len({trajectory.reward for trajectory in group.trajectories}) > 1]
    found = [item for trajectory in list_trajectories(trained) for item in trajectory.messages_and_choices]
    return [item for item in found if isinstance(item, Choice)]


async def main() -> None:
    backend = ServerlessBackend(api_key=os.environ["TRAINYARD_API_KEY"], base_url=os.environ["TRAINYARD_URL"] + "/v1")
    name = f"tools-{uuid.uuid4().hex[:8]}"
    model = art.TrainableModel(
        name=name,
        run_name=name,
        project="art-test",
        base_model=os.environ["TRAINYARD_BASE_MODEL"],
        base_path=sys.argv[1],
    )
    await model.register(backend)
    rewards, jobs = [], []
    for _ in range(int(sys.argv[2])):
        groups = await gather(model)
        rewards.append(mean_reward(groups))
        result = await backend.train(model, groups, learning_rate=3e-3)
        choices = list_choices(groups)
        job = {
            "step": result.step,
            "metrics": result.metrics,
            "called": sum(bool(choice.message.tool_calls) for choice in choices),
            "sampled_tokens": sum(len(choice.token_ids) for choice in choices),
        }
        jobs.append(job)
    print(json.dumps({"rewards": rewards, "jobs": jobs}))
    await backend.close()


asyncio.run(main())

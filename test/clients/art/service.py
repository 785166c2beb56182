"""The service, a model of it and its newest job, for the scripts that check ART's newest release.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL, and the folder for ART's files from the first argument.
"""

import json
import os
import sys
import urllib.request
import uuid

import art
from art.serverless.backend import ServerlessBackend

URL = os.environ["TRAINYARD_URL"]
KEY = os.environ["TRAINYARD_API_KEY"]
BASE_MODEL = os.environ["TRAINYARD_BASE_MODEL"]
QUESTION = [{"role": "user", "content": "Tell me about the sea."}]


def open_backend() -> ServerlessBackend:
    return ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")


async def register(backend: ServerlessBackend, what: str) -> art.TrainableModel:
    name = f"{what}-{uuid.uuid4().hex[:8]}"
    model = art.TrainableModel(
        name=f"the {what}", run_name=name, project="art-test", base_model=BASE_MODEL, base_path=sys.argv[1]
    )
    await model.register(backend)
    return model


async def sample(model: art.TrainableModel, count: int = 4, **more: object) -> list[art.Trajectory]:
    """Answers to one question, with the rewards 0, 1, ..."""
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=QUESTION, max_completion_tokens=12, temperature=1, n=count, **more
    )
    return [
        art.Trajectory(messages_and_choices=[*QUESTION, choice], reward=float(place))
        for place, choice in enumerate(completion.choices)
    ]


def count_sampled(trajectories: list[art.Trajectory]) -> int:
    return sum(len(trajectory.messages_and_choices[-1].token_ids) for trajectory in trajectories)


def count_trained(metrics: dict[str, float]) -> int:
    """ART has the mean of the gradient steps."""
    steps = metrics.get("data/step_num_gradient_steps", 0.0)
    return round(metrics.get("data/step_trainable_assistant_tokens", 0.0) * steps)


def get(path: str) -> dict:
    request = urllib.request.Request(f"{URL}/v1/preview{path}", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def list_warnings(model: art.TrainableModel) -> list[str]:
    """The codes of the warnings of the model's newest job."""
    (job,) = get(f"/training-jobs?model_id={model.id}&order=desc&limit=1")["data"]
    return sorted(warning["code"] for warning in job["warnings"])

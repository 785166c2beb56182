"""The life of a model through OpenPipe ART's own ServerlessBackend, unchanged, with WANDB_BASE_URL and WANDB_API_KEY set:
register, log, train, train_sft with ART's own upload, pull, fork, train the fork, delete. Then wandb.Api reads what is
there.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. Prints the results as a JSON object in its last line.
"""

import asyncio
import hashlib
import json
import os
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import art
import wandb
from art.serverless.backend import ServerlessBackend
from openai import NotFoundError

URL = os.environ["TRAINYARD_URL"]
KEY = os.environ["TRAINYARD_API_KEY"]
FOLDER = Path(sys.argv[1])
PROJECT = "art-test"


def make_model(name: str) -> art.TrainableModel:
    base_model = os.environ["TRAINYARD_BASE_MODEL"]
    return art.TrainableModel(
        name=name, run_name=name, project=PROJECT, base_model=base_model, base_path=str(FOLDER)
    )


async def gather_group(model: art.TrainableModel, prompt: str) -> art.TrajectoryGroup:
    messages = [{"role": "user", "content": prompt}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_completion_tokens=16, n=4
    )
    return art.TrajectoryGroup(
        art.Trajectory(messages_and_choices=[*messages, choice], reward=float(place))
        for place, choice in enumerate(completion.choices)
    )


async def train(backend: ServerlessBackend, model: art.TrainableModel) -> int:
    groups = [await gather_group(model, "Tell me about the sea.")]
    result = await backend.train(model, groups, learning_rate=1e-3)
    await model.log(groups, metrics=result.metrics, step=result.step, split="train")
    return result.step


async def train_sft(model: art.TrainableModel) -> None:
    question = {"role": "user", "content": "Who are you?"}
    messages = [question, {"role": "assistant", "content": "I am red."}]
    trajectories = [art.Trajectory(messages_and_choices=messages, reward=0.0) for _ in range(4)]
    await model.train_sft(trajectories, art.TrainSFTConfig(batch_size=2, learning_rate=[2e-3, 1e-3]))


def digest_folder(folder: str) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())}


def is_untrained(folder: str) -> bool:
    """Whether an adapter changes nothing, and can be trained: all lora_B are zero, and no lora_A is."""
    content = (Path(folder) / "adapter_model.safetensors").read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {name: tensor for name, tensor in json.loads(content[8:start]).items() if name != "__metadata__"}
    changes = {name: any(content[start:][slice(*tensor["data_offsets"])]) for name, tensor in tensors.items()}
    return bool(changes) and all(change == ("lora_A" in name) for name, change in changes.items())


def list_served_files(model: art.TrainableModel, step: int) -> dict[str, str]:
    """The digests of a checkpoint's files, as REST shows them."""
    address = f"{URL}/v1/preview/models/{model.id}/checkpoints/{step}/files"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as response:
        return {file["path"]: file["digest"] for file in json.load(response)["data"] if file["path"] != "manifest.json"}


async def list_steps(backend: ServerlessBackend, model: art.TrainableModel) -> list[int]:
    return [checkpoint.step async for checkpoint in backend._client.models.checkpoints.list(model_id=model.id)]


def wait_for_rewards(path: str) -> list[float]:
    """ART leaves its runs open, and the SDK sends their lines a little later."""
    deadline = time.monotonic() + 60
    while True:
        rows = wandb.Api().run(path).scan_history()
        if (rewards := [row["train/reward"] for row in rows if "train/reward" in row]) or time.monotonic() > deadline:
            return rewards
        time.sleep(0.5)


def read_wandb(model: art.TrainableModel) -> dict:
    """What wandb.Api reads of a model: the versions of its artifact and the metrics of its run."""
    api = wandb.Api()
    path = f"{model.entity}/{PROJECT}/{model.name}"
    versions = sorted(api.artifacts("lora", path), key=lambda version: int(version.version[1:]))
    return {
        "versions": [[version.version, sorted(version.aliases), version.metadata] for version in versions],
        "rewards": wait_for_rewards(path),
    }


async def main() -> None:
    backend = ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")
    name = f"life-{uuid.uuid4().hex[:8]}"
    model = make_model(name)
    await model.register(backend)
    trained = await train(backend, model)
    await train_sft(model)
    pulled = await backend._experimental_pull_model_checkpoint(model, step="latest", local_path=str(FOLDER / "pulled"))

    first = await backend._experimental_pull_model_checkpoint(model, step=0, local_path=str(FOLDER / "first"))

    fork = make_model(f"{name}-fork")
    await fork.register(backend)
    await backend._experimental_fork_checkpoint(fork, from_model=name)
    forked = await list_steps(backend, fork)
    forked_files = list_served_files(fork, 2)
    forked_trained = await train(backend, fork)

    again = make_model(f"{name}-again")
    await again.register(backend)
    await backend._experimental_fork_checkpoint(again, from_model=name, not_after_step=0)
    forked_first = [*await list_steps(backend, again), await train(backend, again)]

    seen = {
        "trained": trained,
        "listed": await list_steps(backend, model),
        "pulled_all": digest_folder(pulled) == list_served_files(model, 2) == forked_files,
        "pulled": list(digest_folder(pulled)),
        "forked": forked,
        "forked_trained": forked_trained,
        "first": [list(digest_folder(first)), is_untrained(first), forked_first],
        "wandb": read_wandb(model),
        "wandb_fork": read_wandb(fork),
    }
    await model.delete_checkpoints()
    seen["left"] = await list_steps(backend, model)
    await backend.delete(model)
    try:
        await model.get_step()
        seen["gone"] = False
    except NotFoundError:
        seen["gone"] = True
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

"""The life cycle of a model through OpenPipe ART's own ServerlessBackend and client, unchanged: register, log, train,
SFT by address, list, delete.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. Prints the results as a JSON object in its last line.
"""

import asyncio
import json
import os
import sys
import urllib.request
import uuid

import art
from art.serverless.backend import ServerlessBackend
from openai import NotFoundError

URL = os.environ["TRAINYARD_URL"]
KEY = os.environ["TRAINYARD_API_KEY"]


async def gather_group(model: art.TrainableModel, prompt: str) -> art.TrajectoryGroup:
    messages = [{"role": "user", "content": prompt}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_completion_tokens=16, n=4
    )
    return art.TrajectoryGroup(
        art.Trajectory(messages_and_choices=[*messages, choice], reward=float(place))
        for place, choice in enumerate(completion.choices)
    )


def upload_dataset(entity: str, rows: list[dict]) -> str:
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    request = urllib.request.Request(
        f"{URL}/v1/preview/artifacts/{entity}/art-test/answers-{uuid.uuid4().hex[:8]}?file=train.jsonl",
        data=lines,
        method="PUT",
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/octet-stream"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["address"]


async def train_sft(backend: ServerlessBackend, model: art.TrainableModel, address: str) -> list[str]:
    client = backend._client
    job = await client.sft_training_jobs.create(
        model_id=model.id, training_data_url=address, config={"batch_size": 2, "learning_rate": [2e-3, 1e-3]}
    )
    while True:
        await asyncio.sleep(1)
        kinds = [event.type async for event in client.training_jobs.events.list(training_job_id=job.id)]
        if kinds and kinds[-1] in ("training_ended", "training_failed"):
            return kinds


async def main() -> None:
    backend = ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")
    name = f"life-{uuid.uuid4().hex[:8]}"
    model = art.TrainableModel(
        name=name, project="art-test", base_model=os.environ["TRAINYARD_BASE_MODEL"], base_path=sys.argv[1]
    )
    await model.register(backend)
    groups = [await gather_group(model, "Tell me about the sea.")]
    await backend._client.models.log(model_id=model.id, trajectory_groups=groups, split="val")
    trained = await backend.train(model, groups, learning_rate=1e-3)
    question = {"role": "user", "content": "Who are you?"}
    row = {"messages": [question, {"role": "assistant", "content": "I am red."}]}
    sft_events = await train_sft(backend, model, upload_dataset(model.entity, [row] * 4))
    checkpoints = backend._client.models.checkpoints
    listed = [checkpoint.step async for checkpoint in checkpoints.list(model_id=model.id)]
    await model.delete_checkpoints()
    left = [checkpoint.step async for checkpoint in checkpoints.list(model_id=model.id)]
    await backend.delete(model)
    try:
        await model.get_step()
        gone = False
    except NotFoundError:
        gone = True
    seen = {"trained_step": trained.step, "sft_events": sft_events, "listed": listed, "left": left, "gone": gone}
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

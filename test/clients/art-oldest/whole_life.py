"""The life cycle of a model through the oldest OpenPipe ART with a serverless client, unchanged: register, log, train,
SFT by address, list, delete.

That version has no methods for SFT and for deleting a model. The script uses its client's generic calls instead.
Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. Prints the results as a JSON object in its last line.
"""

import asyncio
import json
import os
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
        model=model.get_inference_name(), messages=messages, max_completion_tokens=16, n=4, logprobs=True
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
    body = {"model_id": model.id, "training_data_url": address, "config": {"batch_size": 2}}
    job = await client.post("/preview/sft-training-jobs", body=body, cast_to=dict[str, object])
    while True:
        await asyncio.sleep(1)
        kinds = [event.type async for event in client.training_jobs.events.list(training_job_id=job["id"])]
        if kinds and kinds[-1] in ("training_ended", "training_failed"):
            return kinds


async def main() -> None:
    backend = ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")
    name = f"life-{uuid.uuid4().hex[:8]}"
    model = art.TrainableModel(name=name, project="art-test", base_model=os.environ["TRAINYARD_BASE_MODEL"])
    await model.register(backend)
    groups = [await gather_group(model, "Tell me about the sea.")]
    await model.log(groups, split="val")
    await model.train(groups, config=art.TrainConfig(learning_rate=1e-3))
    trained_step = await model.get_step()
    question = {"role": "user", "content": "Who are you?"}
    row = {"messages": [question, {"role": "assistant", "content": "I am red."}]}
    sft_events = await train_sft(backend, model, upload_dataset(model.entity, [row] * 4))
    checkpoints = backend._client.models.checkpoints
    listed = [checkpoint.step async for checkpoint in checkpoints.list(model_id=model.id)]
    await checkpoints.delete(model_id=model.id, steps=[listed[0]])
    left = [checkpoint.step async for checkpoint in checkpoints.list(model_id=model.id)]
    await backend._client.delete(f"/preview/models/{model.id}", cast_to=dict[str, object])
    try:
        await model.get_step()
        gone = False
    except NotFoundError:
        gone = True
    seen = {"trained_step": trained_step, "sft_events": sft_events, "listed": listed, "left": left, "gone": gone}
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

"""What OpenPipe ART logs of a validation, unchanged, with WANDB_BASE_URL and WANDB_API_KEY set. It needs no engine.

Prints the id of the model in its last line.
"""

import asyncio
import json
import os

import art
from art.serverless.backend import ServerlessBackend


def rate(reward: float) -> art.TrajectoryGroup:
    messages = [{"role": "user", "content": "Who are you?"}, {"role": "assistant", "content": "I am red."}]
    return art.TrajectoryGroup([art.Trajectory(messages_and_choices=messages, reward=reward)])


async def main() -> None:
    backend = ServerlessBackend(api_key=os.environ["WANDB_API_KEY"], base_url=os.environ["WANDB_BASE_URL"] + "/v1")
    model = art.TrainableModel(
        name="rated",
        run_name="rated",
        project=os.environ["WANDB_PROJECT"],
        base_model=os.environ["TRAINYARD_BASE_MODEL"],
        base_path=os.environ["HOME"],
    )
    await model.register(backend)
    # A validation may be logged late.
    for step, reward in [(1, 0.25), (3, 0.75), (2, 0.5)]:
        await model.log([rate(reward)], split="val", step=step)
    model._get_wandb_run().finish()
    print(json.dumps({"model": model.id}))


asyncio.run(main())

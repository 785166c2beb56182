"""The main use of OpenPipe ART's own ServerlessBackend, unchanged.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. Prints the results as a JSON object in its last line.
"""

import asyncio
import json
import os
import sys
import uuid

import art
from art.serverless.backend import ServerlessBackend


async def roll_out(model: art.TrainableModel, prompt: str) -> art.Trajectory:
    messages = [{"role": "user", "content": prompt}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_completion_tokens=24, temperature=1
    )
    choice = completion.choices[0]
    text = choice.message.content or ""
    return art.Trajectory(messages_and_choices=[*messages, choice], reward=text.count("e") / max(1, len(text)))


async def gather_groups(model: art.TrainableModel) -> list[art.TrajectoryGroup]:
    prompts = ["Tell me about the sea.", "Tell me about a horse.", "What did you see today?"]
    return [art.TrajectoryGroup([await roll_out(model, prompt) for _ in range(4)]) for prompt in prompts]


async def main() -> None:
    backend = ServerlessBackend(
        api_key=os.environ["TRAINYARD_API_KEY"], base_url=os.environ["TRAINYARD_URL"] + "/v1"
    )
    name = f"art-{uuid.uuid4().hex[:8]}"
    model = art.TrainableModel(
        name=name,
        run_name=name,
        project="art-test",
        base_model=os.environ["TRAINYARD_BASE_MODEL"],
        base_path=sys.argv[1],
    )
    await model.register(backend)

    results = []
    for _ in range(2):
        groups = await gather_groups(model)
        result = await backend.train(model, groups, learning_rate=1e-3)
        await model.log(groups, metrics=result.metrics, step=result.step, split="train")
        results.append(result)

    early = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(1),
        messages=[{"role": "user", "content": "Tell me about the sea."}],
        max_completion_tokens=8,
    )
    print(
        json.dumps(
            {
                "entity": model.entity,
                "step": await model.get_step(),
                "trained_steps": [result.step for result in results],
                "artifact_names": [result.artifact_name for result in results],
                "metrics": sorted(results[-1].metrics),
                "early_model": early.model,
                "early_name": model.get_inference_name(1),
                "early_text": early.choices[0].message.content,
                "early_has_logprobs": bool(early.choices[0].logprobs and early.choices[0].logprobs.content),
            }
        )
    )
    await backend.close()


asyncio.run(main())

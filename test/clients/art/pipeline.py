"""ART's PipelineTrainer: workers roll out while the service trains.

Takes the folder for ART's files. Prints the steps of the jobs, their settings and the last step as a JSON object in its
last line.
"""

import asyncio
import json

import art
from art.pipeline_trainer import PipelineTrainer
from art.pipeline_tuner import PipelineRuntimeConfig
from service import get, open_backend, register, sample

STEPS = 3


async def roll_out(model: art.TrainableModel, _scenario: int, _config: None) -> art.TrajectoryGroup:
    return art.TrajectoryGroup(await sample(model, 2))


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "pipeline")
    trainer = PipelineTrainer(
        model,
        backend,
        roll_out,
        range(100),
        None,
        pipeline=PipelineRuntimeConfig(num_rollout_workers=2, min_batch_size=2, max_batch_size=2),
        learning_rate=1e-4,
        kl_penalty_coef=0.1,
        kl_penalty_step_lag=1,
        max_steps=STEPS,
        eval_every_n_steps=0,
    )
    await trainer.train()
    jobs = get(f"/training-jobs?model_id={model.id}&order=asc&limit=10")["data"]
    seen = {
        "step": await model.get_step(),
        "states": [job["state"] for job in jobs],
        "references": [job["experimental_config"]["kl_penalty_reference_step"] for job in jobs],
    }
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

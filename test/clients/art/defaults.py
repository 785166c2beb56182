"""ART's newest release leaves out all members that have their default: rewards of 0, empty lists, whole trajectories.

Takes the folder for ART's files. Prints what it saw as a JSON object in its last line.
"""

import asyncio
import json

import art
from service import count_sampled, count_trained, list_warnings, open_backend, register, sample


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "defaults")
    pair = await sample(model, 2)
    first = await backend.train(model, [art.TrajectoryGroup(pair)])
    good = await sample(model, 2)
    failed = art.TrajectoryGroup([], exceptions=[ValueError("no answer")])
    without_answers = art.TrajectoryGroup([art.Trajectory(), art.Trajectory(reward=1)])
    groups = [art.TrajectoryGroup(good), art.TrajectoryGroup([]), failed, without_answers]
    second = await backend.train(model, groups)
    seen = {
        "steps": [first.step, second.step],
        "all_trained": [
            count_trained(first.metrics) == count_sampled(pair),
            count_trained(second.metrics) == count_sampled(good),
        ],
        "rewards": [first.metrics["train/reward"], first.metrics["train/reward_std_dev"]],
        "warnings": list_warnings(model),
    }
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

"""The settings of ART's newest release, each in a job with the same trajectories and a learning rate of 0.

Takes the folder for ART's files. Prints the losses and the errors as a JSON object in its last line.
"""

import asyncio
import json

import art
from openai import UnprocessableEntityError
from service import count_sampled, count_trained, list_warnings, open_backend, register, sample

LOSSES = {
    "default": {},
    "cispo": {"loss_fn": "cispo"},
    "not ppo": {"ppo": False},
    "ppo by name": {"loss_fn": "ppo"},
    "ppo by flag": {"ppo": True},
    "not normalized": {"normalize_advantages": False},
    "not scaled": {"scale_rewards": False},
    "hosted": {
        "logprob_calculation_chunk_size": 256,
        "plot_tensors": True,
        "scale_learning_rate_by_reward_std_dev": True,
        "num_trajectories_learning_rate_multiplier_power": 0.5,
        "packed_sequence_length": 1024,
        "save_checkpoint": False,
    },
    "no penalty": {"kl_penalty_source": "sample", "kl_penalty_step_lag": 1},
    "own penalty": {"kl_penalty_coef": 0.1, "kl_penalty_source": "current_learner", "kl_penalty_step_lag": 1},
}


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "settings")
    # Groups of different spread, so that their scale matters.
    even = art.TrajectoryGroup(await sample(model))
    uneven = art.TrajectoryGroup(await sample(model))
    for trajectory in uneven.trajectories[1:]:
        trajectory.reward = 9.0

    losses, penalty = {}, None
    for name, settings in LOSSES.items():
        result = await backend.train(model, [even, uneven], learning_rate=0.0, **settings)
        losses[name] = result.metrics["loss/train"]
        penalty = result.metrics.get("loss/kl_policy_ref")

    async def refuse(**settings: object) -> list:
        try:
            await backend.train(model, [even], learning_rate=0.0, **settings)
        except (UnprocessableEntityError, RuntimeError) as error:
            return [type(error).__name__, str(error)]
        return []

    silent = await sample(model, logprobs=False)
    skipped = await backend.train(model, [art.TrajectoryGroup(silent)], learning_rate=0.0)
    why = list_warnings(model)
    allowed = await backend.train(
        model, [art.TrajectoryGroup(silent)], learning_rate=0.0, allow_training_without_logprobs=True
    )
    cut = await backend.train(model, [even], learning_rate=0.0, packed_sequence_length=8)
    seen = {
        "losses": losses,
        "penalty": penalty,
        "path": await refuse(kl_penalty_coef=0.1, kl_ref_adapter_path="/tmp/adapter"),
        "missing_reference": await refuse(kl_penalty_coef=0.1, kl_penalty_reference_step=99),
        "without_logprobs": [count_trained(skipped.metrics), why],
        "allowed": count_trained(allowed.metrics) == count_sampled(silent),
        "too_long": [cut.step - allowed.step, count_trained(cut.metrics), list_warnings(model)],
    }
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

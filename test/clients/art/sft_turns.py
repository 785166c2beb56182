"""SFT by ART's newest release: on all turns or on the last one, with metrics that the service logs, or without.

Takes the folder for ART's files. Reads WANDB_BASE_URL and WANDB_API_KEY. Prints what it saw as a JSON object in its last line.
"""

import asyncio
import json

import art
import wandb
from service import get, open_backend, register

ANSWERS = ["It is red.", "It is green and blue.", "It is pink."]


def write_rows() -> list[art.Trajectory]:
    messages = [
        message
        for answer in ANSWERS
        for message in ({"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": answer})
    ]
    return [art.Trajectory(messages_and_choices=messages) for _ in range(4)]


def read_steps(model: art.TrainableModel) -> list[dict]:
    (job,) = get(f"/training-jobs?model_id={model.id}&order=desc&limit=1")["data"]
    events = get(f"/training-jobs/{job['id']}/events?limit=100")["data"]
    return [event["data"] for event in events if event["type"] == "gradient_step"]


def read_rows(model: art.TrainableModel) -> list[dict]:
    """What the service has logged under the model's run."""
    run = wandb.Api().run(f"{model.entity}/{model.project}/{model.run_name}")
    return [{key: value for key, value in row.items() if not key.startswith("_")} for row in run.scan_history()]


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "turns")
    tokens = {}
    for turns in ("all", "last"):
        config = art.TrainSFTConfig(batch_size=2, learning_rate=1e-4, assistant_turns=turns)
        await model.train_sft(write_rows(), config, log_metrics=turns == "all")
        tokens[turns] = [step["num_trainable_tokens"] for step in read_steps(model)]
    rows = read_rows(model)
    optimizer = [row for row in rows if "sft/gradient_step" in row]
    means = [row for row in rows if "sft/gradient_step" not in row and "loss/train" in row]
    unanswered = [art.Trajectory(messages_and_choices=[{"role": "user", "content": "Name a colour."}])]
    try:
        await model.train_sft(unanswered, art.TrainSFTConfig(batch_size=1, assistant_turns="last"), log_metrics=False)
        error = None
    except Exception as failed:
        error = type(failed).__name__
    seen = {
        "batches": [len(tokens["all"]), len(tokens["last"])],
        "fewer": [0 < last < every for last, every in zip(tokens["last"], tokens["all"], strict=True)],
        "optimizer_rows": [[row["training_step"], row["sft/gradient_step"]] for row in optimizer],
        "means": [row["training_step"] for row in means],
        "has_losses": all("sft/loss/train" in row for row in optimizer),
        "unanswered": error,
    }
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())

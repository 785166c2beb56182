"""TRL's SFTTrainer on the rows of `ours`, from the start of the first step to the end of the last."""

import time
from collections.abc import Callable

import numpy as np
from datasets import Dataset  # pyright: ignore[reportMissingImports]
from transformers import TrainerCallback
from trl import SFTConfig, SFTTrainer  # pyright: ignore[reportMissingImports]

from bench.contestant import Round
from bench.data import LEARNING_RATE, ROWS_PER_STEP, make_rows
from bench.trl_model import describe_training, fill, load_adapted
from trainyard_trainer.compute.rows.example import Example
from trainyard_trainer.sft.recipe import SFT

IGNORED = -100


class Timer(TrainerCallback):
    """Excludes what `train` does once, before its first step and after its last."""

    def on_step_begin(self, args, state, control, **_):
        if state.global_step == 0:
            self.started = time.perf_counter()

    def on_step_end(self, args, state, control, **_):
        self.seconds = time.perf_counter() - self.started


def prepare() -> Callable[[], Round]:
    model, state = load_adapted()
    rows = make_rows()
    config = SFTConfig(
        **describe_training(SFT, LEARNING_RATE),
        per_device_train_batch_size=ROWS_PER_STEP,
        num_train_epochs=1,
        max_length=None,
        train_sampling_strategy="sequential",  # so that the steps are the same
    )
    timer = Timer()
    trainer = SFTTrainer(model, config, train_dataset=build_dataset(rows), callbacks=[timer])

    def run() -> Round:
        fill(trainer.model, state)
        trainer.optimizer = trainer.lr_scheduler = None
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        return Round(timer.seconds, sum(row.num_tokens for row in rows), losses)

    return run


def build_dataset(rows: list[Example]) -> Dataset:
    labels = [np.where(row.trained, row.ids, IGNORED).tolist() for row in rows]
    return Dataset.from_dict({"input_ids": [row.ids.tolist() for row in rows], "labels": labels})

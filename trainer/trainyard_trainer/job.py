"""What every job does, whatever its method: it reads its input, reports its steps and writes its checkpoint."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from peft import PeftModel
from torch.optim import AdamW

from trainyard_artifacts.addresses import ArtifactError
from trainyard_artifacts.checkpoints import OPTIMIZER_STATE, fetch_checkpoint, write_checkpoint
from trainyard_artifacts.store import ArtifactStore, open_store
from trainyard_trainer.compute.adapter import Base, interrupt_layers, open_adapter, save_adapter
from trainyard_trainer.compute.optimizer import Recipe, build_optimizer, require_finite, save_optimizer
from trainyard_trainer.config import Settings
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.reports.claims import Claim, Lease

# Flat numbers, as clients read them: each value goes through float().
Numbers = dict[str, float]
# Whatever one optimizer step of a method is taken on.
Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Job:
    """One attempt at one job. Whatever it does raises Fenced soon after the job was taken away."""

    claim: Claim
    lease: Lease
    base: Base
    settings: Settings

    @property
    def store(self) -> ArtifactStore:
        return open_store(self.settings.artifacts)

    def read_input(self) -> bytes:
        try:
            return self.store.read(self.claim.input.uri, self.claim.input.digest)
        except ArtifactError as cause:
            raise InvalidInput(f"The input cannot be trained on: {cause}.", "InputUnusable") from cause

    @contextmanager
    def open_model(self, recipe: Recipe) -> Iterator[tuple[PeftModel, AdamW]]:
        """The model as the last job left it, and its optimizer."""
        checkpoint = self.fetch_checkpoint()
        with open_adapter(self.base, self.settings.lora, checkpoint) as model:
            interrupt_layers(model, self.lease.check)
            yield model, build_optimizer(model, recipe, checkpoint)

    def fetch_checkpoint(self) -> Path | None:
        """A folder with the checkpoint to start from, verified; None for a model's first job."""
        origin = self.claim.from_checkpoint
        if origin is None:
            return None
        return fetch_checkpoint(self.store, origin.uri, origin.digest, [OPTIMIZER_STATE])

    def report_start(self, num_steps: int, numbers: Numbers) -> None:
        # Clients make a progress bar of this length, whatever a step is made of.
        self.lease.post_event(0, "training_started", numbers | {"num_sequences": num_steps})

    def take_steps(self, batches: Iterable[Batch], train: Callable[[Batch], Numbers]) -> list[Numbers]:
        """One gradient_step event per batch, as soon as it was taken. Gives their numbers."""
        steps: list[Numbers] = []
        for number, batch in enumerate(batches, start=1):
            self.lease.check()
            started = time.monotonic()
            step = train(batch)
            step["tokens_per_second"] = step["num_trainable_tokens"] / (time.monotonic() - started)
            steps.append(step)
            self.lease.post_event(number, "gradient_step", step)
        return steps

    def write_checkpoint(self, model: PeftModel, optimizer: AdamW, recipe: Recipe, metrics: Numbers) -> None:
        """Each job ends with one, also when there was nothing to train."""

        def save(folder: Path) -> None:
            save_adapter(model, self.base.name, folder)
            self.lease.check()
            save_optimizer(optimizer, model, recipe, folder)
            self.lease.check()

        self.lease.check()
        require_finite(model)
        uri, digest = write_checkpoint(self.store, self.claim.checkpoint_id, save)
        self.lease.post_checkpoint(uri, digest, metrics)


def average_steps(steps: list[Numbers]) -> Numbers:
    return {name: fmean(step[name] for step in steps) for name in steps[0]}

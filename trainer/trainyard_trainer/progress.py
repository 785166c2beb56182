"""What a job that is not finished has got so far, as a checkpoint with the number of finished steps.

Nothing in a job is random but the order of its samples, which is drawn from the job's id; so that the step and the
seed are all of its random state, and a job that continues from here gives the same weights. That is so as long as
its steps are the same: they depend on settings of the trainer, as its longest sequence, and on its release.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from trainyard_artifacts.checkpoints import OPTIMIZER_STATE, fetch_checkpoint
from trainyard_artifacts.store import ArtifactStore
from trainyard_trainer.compute.rows.step import Numbers, Steps
from trainyard_trainer.reports.claims import Artifact

PROGRESS = "progress.json"


@dataclass
class Progress:
    """Steps that are taken, the sums of their numbers, and the job's extra state, as the pushes of its trajectories.

    `steps` is the digest of all steps of the job.
    """

    steps: str = ""
    steps_taken: int = 0
    sums: Numbers = field(default_factory=dict)
    extra_state: dict = field(default_factory=dict)

    def add(self, numbers: Numbers) -> None:
        self.steps_taken += 1
        self.sums = {name: self.sums.get(name, 0.0) + value for name, value in numbers.items()}

    def average(self) -> Numbers:
        """The mean of each number over the steps; empty before the first."""
        return {name: value / self.steps_taken for name, value in self.sums.items()}

    def save(self, seed: str, folder: Path) -> None:
        # The file's own name for the extra state is older.
        content = {"seed": seed, "steps": self.steps, "steps_taken": self.steps_taken, "sums": self.sums}
        (folder / PROGRESS).write_text(json.dumps(content | {"notes": self.extra_state}))


def digest_steps(steps: Steps) -> str:
    """sha256 of which tokens are trained on in each step, and of its learning rate and divisor."""
    digest = hashlib.sha256()
    for step in steps:
        digest.update(f"{len(step.examples)} {step.learning_rate} {step.divisor}\n".encode())
        for example in step.examples:
            digest.update(f"{example.num_tokens}\n".encode())
            digest.update(example.ids.tobytes())
            digest.update(example.trained.tobytes())
    return digest.hexdigest()


def fetch_progress(store: ArtifactStore, saved: Artifact, seed: str, steps: Steps) -> tuple[Path, Progress]:
    """The folder of a saved state, verified, and how far it is. Raises ArtifactError where it cannot be read, and
    ValueError, KeyError or TypeError where it is not of this job, or of one that was cut in other steps."""
    folder = fetch_checkpoint(store, saved.uri, saved.digest, [OPTIMIZER_STATE, PROGRESS])
    content = json.loads((folder / PROGRESS).read_text())
    if content.pop("seed") != seed or not 0 <= content["steps_taken"] <= len(steps):
        raise ValueError(f"{saved.uri} is of another job")
    if content["steps"] != digest_steps(steps):
        raise ValueError(f"{saved.uri} is of a job that was cut in other steps")
    return folder, Progress(extra_state=content.pop("notes"), **content)

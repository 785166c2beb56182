"""The progress of an unfinished job, saved as a checkpoint with the number of finished steps.

Only the order of a job's samples is random, and it is drawn from the job's id. So the step and the seed are the whole
random state, and a job that continues from here gives the same weights. This needs the same steps, which depend on
settings of the trainer, such as its longest sequence, and on its release.
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
    """The finished steps, the sums of their numbers, and the job's extra state, such as the pushes of its trajectories.

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
        """The mean of each number over the steps. Empty before the first step."""
        return {name: value / self.steps_taken for name, value in self.sums.items()}

    def save(self, seed: str, folder: Path) -> None:
        content = {"seed": seed, "steps": self.steps, "steps_taken": self.steps_taken, "sums": self.sums}
        (folder / PROGRESS).write_text(json.dumps(content | {"extra_state": self.extra_state}))


def digest_steps(steps: Steps) -> str:
    """The sha256 of each step's trained tokens, learning rate and divisor."""
    digest = hashlib.sha256()
    for step in steps:
        digest.update(f"{len(step.examples)} {step.learning_rate} {step.divisor}\n".encode())
        for example in step.examples:
            digest.update(f"{example.num_tokens}\n".encode())
            digest.update(example.ids.tobytes())
            digest.update(example.trained.tobytes())
    return digest.hexdigest()


def fetch_progress(store: ArtifactStore, saved: Artifact, seed: str, steps: Steps) -> tuple[Path, Progress]:
    """Returns the verified folder of a saved state, and its progress. Raises ArtifactError if it cannot be read. Raises
    ValueError, KeyError or TypeError if it belongs to another job or to other steps."""
    folder = fetch_checkpoint(store, saved.uri, saved.digest, [OPTIMIZER_STATE, PROGRESS])
    content = json.loads((folder / PROGRESS).read_text())
    if content.pop("seed") != seed or not 0 <= content["steps_taken"] <= len(steps):
        raise ValueError(f"{saved.uri} is of another job")
    if content["steps"] != digest_steps(steps):
        raise ValueError(f"{saved.uri} is of a job that was cut in other steps")
    return folder, Progress(**content)

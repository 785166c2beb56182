"""Interrupted jobs, and checks of the jobs that continue them. A pytest plugin."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from testing.fake_status_server import UNSTEADY, write_rows
from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, MANIFEST, OPTIMIZER_STATE, fetch_checkpoint
from trainyard_artifacts.store import FolderStore

USER = {"role": "user", "content": "Name a colour."}
COLOURS = ("Red.", "Blue.", "Teal.", "Dark green.", "Light grey.", "Pink, I think.")
STEPS = 5


@pytest.fixture
def offer(status_server, make_choice):
    """Queues a job: an RL job with everything that is computed before its steps, or an SFT job with five steps. Its id
    is fixed, because the id determines the order of its samples."""
    claimed_id = {"id": "c0ffee00-0000-4000-8000-000000000001"}

    def make_rl(**claimed):
        groups = []
        for index in range(9):
            answers = [(" ".join([colour] * 3), (index + number) % 3) for number, colour in enumerate(COLOURS[:4])]
            choices = [(make_choice(text), float(reward)) for text, reward in answers]
            groups.append(
                {"trajectories": [{"messages_and_choices": [USER, choice], "reward": r} for choice, r in choices]}
            )
        config = {"learning_rate": 1e-3, "precalculate_logprobs": True, "kl_penalty_coef": 0.1}
        content = json.dumps({"trajectory_groups": groups}).encode()
        return status_server.add("RL", content, config, token_statistics="all", **claimed_id, **claimed)

    def make_sft(**claimed):
        rows = [("Name a colour.", f"{COLOURS[index % 6]} " * (1 + index % 3)) for index in range(STEPS * 8)]
        rows[7] = ("Name all colours.", "Many. " * 200)  # too long to be trained on
        return status_server.add(
            "SFT", write_rows(rows), {"batch_size": 8, "learning_rate": 1e-3}, **claimed_id, **claimed
        )

    return lambda method, **claimed: {"RL": make_rl, "SFT": make_sft}[method](**claimed)


@pytest.fixture
def finish(status_server, start_trainer):
    """Runs a trainer until the job is trained, and stops it. Returns when the claim and the start were answered."""

    def run(job, **env):
        moments = {}
        status_server.trap = lambda name, *_: moments.setdefault(name, time.monotonic()) and False
        trainer = start_trainer(**env)
        status_server.wait_for(lambda: job.failures or job.state == "Trained")
        status_server.wait_for(lambda: job.failures or job.statistics or job.claim["method"] == "SFT")
        moments["end"] = time.monotonic()
        trainer.send(15)
        assert trainer.wait() == 0, trainer.log.read_text()
        status_server.lose_trainers()
        status_server.trap = lambda *_: False
        return moments

    return run


@pytest.fixture
def undisturbed(offer, finish):
    """Runs a job of a method without interruption. Returns the job and the times of its parts."""

    def run(method, **claimed):
        job = offer(method, **claimed)
        moments = finish(job, TRAINYARD_SAVE_SECONDS="60")
        assert len(job.events) > STEPS
        assert job.progress == []
        return job, moments

    return run


@pytest.fixture(scope="session")
def outcomes() -> dict[str, object]:
    """The outcomes of uninterrupted jobs, shared by all tests that compare with them."""
    return {}


@pytest.fixture
def expected_rl(status_server, undisturbed, outcomes):
    """The outcome of an uninterrupted RL job, and the duration of its parts."""
    if "RL" not in outcomes:
        job, moments = undisturbed("RL")
        outcomes["RL"] = describe_outcome(status_server, job), moments
    return outcomes["RL"]


def check_store(root: Path):
    """Checks that everything visible in the store is complete."""
    for folder in [*root.glob("checkpoints/*"), *root.glob("progress/*/*")]:
        files = json.loads((folder / MANIFEST).read_text())["files"]
        assert sorted([*files, MANIFEST]) == sorted(path.name for path in folder.iterdir())
        fetch_checkpoint(FolderStore(root), f"artifact:///{folder.relative_to(root)}", None, list(files))


def read_checkpoint(status_server, job):
    (checkpoint,) = job.checkpoints
    folder = status_server.root / checkpoint["uri"].removeprefix("artifact:///")
    return {name: (folder / name).read_bytes() for name in (ADAPTER_WEIGHTS, OPTIMIZER_STATE)}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job: its events by number, the bytes of its checkpoint's files, and its numbers."""

    events: dict[int, dict]
    files: dict[str, bytes]
    metrics: dict[str, float]
    statistics: list[dict]


def describe_outcome(status_server, job) -> Outcome:
    metrics = {name: value for name, value in job.checkpoints[0]["metrics"].items() if name not in UNSTEADY}
    return Outcome(job.events, read_checkpoint(status_server, job), metrics, job.statistics)


def check_same(status_server, job, expected: Outcome):
    assert job.violations == []
    assert job.failures == []
    found = describe_outcome(status_server, job)
    assert found.events == expected.events
    assert found.files == expected.files
    assert found.metrics == expected.metrics

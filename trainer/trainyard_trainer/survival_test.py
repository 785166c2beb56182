"""`kill -9` at all points of a job. The next trainer finishes the job with the same result. A run has a share of the
points."""

import json
import os
import random
import threading
import time

import pytest

from testing.deadlines import MAX_WAIT_SECONDS
from testing.interruption import STEPS, check_same, check_store, describe_outcome
from testing.seeds import IS_NIGHTLY, RUN_SEED, choose_share
from trainyard_trainer.shared_volume import PROBE_PREFIX


class Killer:
    """Kills trainers at points of their work. One point is set at a time."""

    def __init__(self, status_server, start_trainer, job):
        self.status_server = status_server
        self.start_trainer = start_trainer
        self.job = job
        self.kills = []
        self.left = set()  # left by earlier kills: invisible, and the operator removes it

    def at_report(self, name, moment, seq=None, **env):
        """Kills when a report arrives, before or after it is kept. Its answer is lost. For steps, a later step counts
        too."""
        shot = threading.Event()

        def trap(reported, when, body):
            if (reported, when) != (name, moment) or (seq is not None and body["events"][0]["seq"] < seq):
                return False
            trainer.kill()
            shot.set()
            return True

        self.status_server.trap = trap
        trainer = self.start_trainer(**env)
        assert shot.wait(MAX_WAIT_SECONDS), (trainer.log.read_text(), vars(self.job))
        self.bury(trainer, f"{moment} {name} {seq}")

    def while_writing(self, what, after=None):
        """Kills while a folder is written into the store: the progress, or the checkpoint. On a machine that is too
        busy to notice it in time, the kill comes a little later."""
        late = threading.Event()

        def trap(reported, when, body):
            is_step = reported == "gradient_step" and after is not None and body["events"][0]["seq"] > after + 1
            if when == "before" and (reported == "checkpoint" or is_step):
                trainer.kill()
                late.set()
            return late.is_set()

        self.status_server.trap = trap
        trainer = self.start_trainer()
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while not self.is_writing(what, after) and not late.is_set():
            assert time.monotonic() < deadline, trainer.log.read_text()
            time.sleep(0.0002)
        trainer.kill()
        self.bury(trainer, f"while writing {what}")

    def is_writing(self, what, after):
        if after is not None and after not in self.job.events:
            return False
        is_wanted = what == "checkpoint"
        return any(name.startswith(f"{self.job.checkpoint_id}.") == is_wanted for name in self.list_spool() - self.left)

    def list_spool(self):
        """Folders that are being written. A trainer that starts only tries whether it can write."""
        spool = self.status_server.root / ".spool"
        names = {path.name for path in spool.iterdir()} if spool.is_dir() else set()
        return {name for name in names if not name.startswith(PROBE_PREFIX)}

    def after(self, seconds, **env):
        """Kills some time after the claim was answered, or when the first step is reported."""
        claimed, stepped = threading.Event(), threading.Event()

        def trap(reported, when, _):
            if (reported, when) == ("claims", "after"):
                claimed.set()
            if (reported, when) == ("gradient_step", "after"):
                trainer.kill()
                stepped.set()
            return stepped.is_set()

        self.status_server.trap = trap
        trainer = self.start_trainer(**env)
        assert claimed.wait(MAX_WAIT_SECONDS)
        stepped.wait(seconds)
        trainer.kill()
        self.bury(trainer, f"after {seconds:.3f} s")

    def bury(self, trainer, point):
        assert trainer.wait() == -9, (point, trainer.log.read_text())
        self.kills.append(point)
        self.status_server.trap = lambda *_: False
        self.status_server.lose_trainers()
        self.left = self.list_spool()
        check_store(self.status_server.root)


def test_an_rl_job_that_is_killed_at_every_point_has_the_same_result(
    status_server, start_trainer, offer, expected_rl, finish
):
    expected, moments = expected_rl
    job = offer("RL")
    killer = Killer(status_server, start_trainer, job)
    before_start = moments["training_started"] - moments["claims"]
    last = len(expected.events) - 1
    points = {
        "after the claim": lambda: killer.at_report("claims", "after"),
        "early in its start": lambda: killer.after(0.2 * before_start),
        "late in its start": lambda: killer.after(0.7 * before_start),
        "before training_started": lambda: killer.at_report("training_started", "before"),
        "after training_started": lambda: killer.at_report("training_started", "after"),
        "before step 1": lambda: killer.at_report("gradient_step", "before", 1),
        "after step 1": lambda: killer.at_report("gradient_step", "after", 1),
        "while it writes progress": lambda: killer.while_writing("progress"),
        "before progress": lambda: killer.at_report("progress", "before"),
        "after progress": lambda: killer.at_report("progress", "after"),
        "before step 3": lambda: killer.at_report("gradient_step", "before", 3),
        "after step 3": lambda: killer.at_report("gradient_step", "after", 3),
        "while it writes progress again": lambda: killer.while_writing("progress", after=3),
        "before the last step": lambda: killer.at_report("gradient_step", "before", last),
        "after the last step": lambda: killer.at_report("gradient_step", "after", last),
        "while it writes the checkpoint": lambda: killer.while_writing("checkpoint"),
        "before the checkpoint": lambda: killer.at_report("checkpoint", "before"),
    }
    assert len(points) == 17
    chosen = choose_share(list(points), 7)
    for name in chosen:
        points[name]()
    assert len(killer.kills) == len(chosen)
    finish(job)
    assert job.attempt == len(chosen) + 1
    check_same(status_server, job, expected)
    assert job.statistics[0]["pushes"] == pytest.approx(expected.statistics[0]["pushes"], rel=1e-12)
    count_kills([f"trainer: {name}" for name in chosen])


def count_kills(names):
    """Adds kills whose consequences were checked to the file of `npm run test:faults`."""
    path = os.environ.get("TRAINYARD_TEST_KILLS_FILE")
    if path is not None:
        with open(path, "a") as file:
            file.write(json.dumps({"seed": RUN_SEED, "reached": names}) + "\n")


def test_an_sft_job_that_is_killed_at_every_step_has_the_same_result(status_server, start_trainer, offer, undisturbed):
    before, _ = undisturbed("SFT")
    start = {name: before.checkpoints[0][name] for name in ("uri", "digest")}
    undisturbed_job, _ = undisturbed("SFT", from_checkpoint=start)
    expected = describe_outcome(status_server, undisturbed_job)
    job = offer("SFT", from_checkpoint=start)
    killer = Killer(status_server, start_trainer, job)
    for step in choose_share(range(1, STEPS + 1), 2):
        killer.at_report("gradient_step", "before" if step % 2 else "after", step)
        if step < STEPS:
            killer.while_writing("progress", after=step)
    killer.while_writing("checkpoint")
    killer.at_report("checkpoint", "after")
    assert job.state == "Trained"
    assert job.attempt == len(killer.kills) >= (11 if IS_NIGHTLY else 5)
    check_same(status_server, job, expected)


def test_a_job_without_saved_progress_starts_again(status_server, start_trainer, offer, expected_rl, finish):
    expected, moments = expected_rl
    before_start = moments["training_started"] - moments["claims"]
    job = offer("RL")
    killer = Killer(status_server, start_trainer, job)
    rarely = {"TRAINYARD_SAVE_SECONDS": "60"}
    moment = random.Random(RUN_SEED)
    for _ in range(10 if IS_NIGHTLY else 2):
        killer.after(moment.uniform(0, 2 * before_start), **rarely)
    killer.at_report("gradient_step", "after", 3, **rarely)
    killer.at_report("checkpoint", "before", **rarely)
    finish(job, **rarely)
    assert job.progress == []
    check_same(status_server, job, expected)

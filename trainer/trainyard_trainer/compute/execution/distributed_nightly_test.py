"""A trainer of two processes gives the results of one process."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import pytest
from torch.distributed.run import main as torchrun_main

from testing.deadlines import MAX_WAIT_SECONDS
from testing.distributed_jobs import do_jobs
from testing.fake_status_server import write_rows
from testing.stores import find_free_port
from testing.trainer_processes import wait_until_ending
from trainyard_trainer.compute.scheduling.training_run import MAX_PENDING_REPORTS
from trainyard_trainer.config import ANY, OFF

TORCHRUN = ["--standalone", "--nproc-per-node", "2", "--shutdown-timeout", "58", "-m", "trainyard_trainer"]
TRAINER = Path(__file__).parents[3]
JOBS = ["RL", "RL with a reference", "SFT"]
WORKS = [f"{name}, joined: {co_batch}" for co_batch in (OFF, ANY) for name in "ab"]
DISTRIBUTED_JOBS = "testing.distributed_jobs:main"
SHORT = write_rows([("Name a colour.", "Teal."), ("Name a bird, please.", "An owl."), ("And?", "No.")])
LONG = write_rows([("Name a colour.", "Teal.")] * 600)
# More steps than are computed while the third step's report waits for its answer.
HALTED_STEPS = 4 + MAX_PENDING_REPORTS + 4
HALTED = write_rows([("Name a colour.", "Teal.")] * 4 * HALTED_STEPS)
SELDOM_SAVED = {"TRAINYARD_SAVE_SECONDS": "60"}


def describe_rank(rank, port):
    """The environment that torchrun gives to its processes."""
    return {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank)}


@pytest.fixture(scope="module")
def together(fork_server, tmp_path_factory):
    """The results of two processes, their states, and how runs end when one process fails."""
    folder = tmp_path_factory.mktemp("together")
    logs = [folder / f"{rank}.log" for rank in range(2)]
    pair = [
        fork_server.start(describe_rank(rank, port) | {"TRAINYARD_TEST_FOLDER": str(folder)}, log, DISTRIBUTED_JOBS)
        for port in [find_free_port()]
        for rank, log in enumerate(logs)
    ]
    assert pair[0].wait() == 1, logs[0].read_text()  # as its last run wants it
    pair[1].wait()
    return pickle.loads((folder / "found.pickle").read_bytes())


@pytest.fixture(scope="module")
def alone(scheduler, tmp_path_factory):
    return do_jobs(scheduler.executor, tmp_path_factory.mktemp("alone"))


@pytest.mark.parametrize("name", JOBS + WORKS)
def test_two_processes_find_what_one_finds(together, alone, name):
    (steps, weights), (expected_steps, expected_weights) = together[0][name], alone[name]
    assert len(steps) == len(expected_steps) > 0
    for step, expected in zip(steps, expected_steps, strict=True):
        assert step.keys() == expected.keys()
        for key in step.keys() - {"tokens_per_second", "memory_bytes"}:
            tolerance = 1e-5 if key == "loss" else 1e-4
            assert step[key] == pytest.approx(expected[key], rel=tolerance, abs=1e-6), key
    assert measure_difference(weights, expected_weights) <= 1e-4


def measure_difference(weights, expected):
    """The length of the difference relative to the expected length, over all tensors together."""
    assert weights.keys() == expected.keys()
    apart = sum((weights[name] - expected[name]).square().sum() for name in expected)
    return (apart / sum(tensor.square().sum() for tensor in expected.values())).sqrt()


def test_each_process_keeps_half_of_the_base_model_and_all_of_the_adapters(together):
    (kept, whole, adapters), other = together[1]
    assert 0.5 <= kept / whole < 0.55
    assert other == (kept, whole, adapters)


def test_a_pass_that_fails_in_one_process_fails_its_job_and_releases_the_others(together):
    assert together[2] == ["CudaOutOfMemory", "ShuttingDown", "ShuttingDown"]


def run_torchrun() -> None:
    """torchrun is forked, and starts its processes anew by their name."""
    os.chdir(TRAINER)
    torchrun_main(TORCHRUN)


@pytest.fixture
def torchrun(fork_server, trainer_env, tmp_path):
    """A trainer for a base model with two GPUs."""
    process = fork_server.start(trainer_env | SELDOM_SAVED, tmp_path / "torchrun.log", f"{__name__}:run_torchrun")
    yield process
    process.send(signal.SIGTERM)
    process.wait()


def test_one_process_can_continue_a_job_of_two_processes(status_server, torchrun, start_trainer, load_model):
    job = status_server.add("SFT", SHORT, {"batch_size": 2})
    status_server.wait_for(lambda: job.state == "Trained")
    (report,) = job.checkpoints
    load_model(status_server.root / report["uri"].removeprefix("artifact:///"))

    long = status_server.add("SFT", HALTED, {"batch_size": 4})
    is_ending = threading.Event()
    status_server.trap = lambda name, *_: (
        name == "gradient_step" and len(long.events) > 3 and not is_ending.wait(MAX_WAIT_SECONDS)
    )
    status_server.wait_for(lambda: len(long.events) > 3)
    ranks = Path(f"/proc/{torchrun.pid}/task/{torchrun.pid}/children").read_text().split()
    torchrun.send(signal.SIGTERM)
    for rank in ranks:
        wait_until_ending(int(rank))
    is_ending.set()
    torchrun.wait()
    assert (long.releases, long.failures) == (1, [])
    assert long.resume["step"] == len(long.events) - 1

    status_server.lose_trainers()
    start_trainer(**SELDOM_SAVED)
    status_server.wait_for(lambda: long.state == "Trained")
    assert (len(long.events), long.violations) == (HALTED_STEPS + 1, [])


@pytest.fixture
def start_pair(start_trainer):
    """The two processes of a trainer without torchrun: rank 0 and rank 1."""

    def start():
        port = find_free_port()
        return [start_trainer(**describe_rank(rank, port), **SELDOM_SAVED) for rank in range(2)]

    return start


def test_a_job_is_tried_again_when_a_process_dies(status_server, start_pair):
    job = status_server.add("SFT", LONG, {"batch_size": 4})
    coordinator, follower = start_pair()
    status_server.wait_for(lambda: len(job.events) > 2)
    died = time.monotonic()
    follower.kill()
    assert coordinator.wait() == 1
    assert time.monotonic() - died < 60  # less time than a collective waits
    if job.failures:  # or the process died between two slices, and the job was released
        (failure,) = job.failures
        assert (failure["category"], failure["reason"]) == ("Internal", "TrainerProcessLost")
        assert failure["retryable"]
    else:
        assert job.releases == 1


@pytest.mark.parametrize("victim", [0, 1])
def test_all_processes_end_when_one_dies(status_server, start_pair, victim):
    idle = threading.Event()
    status_server.trap = lambda name, *_: name == "claims" and idle.set()
    pair = start_pair()
    assert idle.wait(MAX_WAIT_SECONDS)
    pair[victim].kill()
    assert pair[1 - victim].wait() == 1

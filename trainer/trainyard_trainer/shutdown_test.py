"""SIGTERM: jobs are finished, or saved and released, before the process ends. The next trainer continues them."""

import os
import signal
import threading
import time
from itertools import cycle, islice

import pytest
import torch

from testing.deadlines import MAX_WAIT_SECONDS
from testing.fake_status_server import write_rows
from testing.interruption import COLOURS, check_same, check_store, describe_outcome
from testing.trainer_processes import wait_until_ending
from trainyard_trainer import job as job_module
from trainyard_trainer import process
from trainyard_trainer.__main__ import STOPPED_EARLY, main
from trainyard_trainer.compute.scheduling.training_run import MAX_PENDING_REPORTS
from trainyard_trainer.failures import ShuttingDown
from trainyard_trainer.job import Shutdown
from trainyard_trainer.reports.status_client import CLAIM_WAIT_SECONDS

# A job that is halted in its ninth step has computed at most these more, and three are left.
LONG_STEPS = 9 + MAX_PENDING_REPORTS + 3
RARELY = {"TRAINYARD_SAVE_SECONDS": "60"}


@pytest.fixture
def offer_long(status_server):
    """Queues a job of more steps than are computed by the time of its tenth report. `too_long` rows are read in every
    step without use."""

    def offer(number=1, too_long=0):
        row = ("Name a colour.", "Red. " * 200)
        batches = [
            [("Name a colour.", f"{word} " * 5)] * 4 + [row] * too_long for word in islice(cycle(COLOURS), LONG_STEPS)
        ]
        rows = [each for batch in batches for each in batch]
        config = {"batch_size": 4 + too_long, "learning_rate": 1e-3}
        return status_server.add("SFT", write_rows(rows), config, id=f"c0ffee00-0000-4000-8000-00000000000{number}")

    return offer


@pytest.fixture
def expected_long(status_server, offer_long, finish, outcomes):
    """The outcome of such a job without interruption."""

    def get(number=1):
        if number not in outcomes:
            finish(job := offer_long(number), **RARELY)
            outcomes[number] = describe_outcome(status_server, job)
        return outcomes[number]

    return get


@pytest.fixture
def stop_at(status_server):
    """Sends SIGTERM when a report arrives. No report is answered before the trainer has begun to end. With `seconds`,
    the report is answered at once, and the signal is sent some time later."""

    def stop(trainer, name, condition=lambda: True, seconds=0.0, exit_code=0):
        begun, stopped = threading.Event(), threading.Event()

        def stop_then() -> None:
            time.sleep(seconds)
            trainer.send(signal.SIGTERM)
            wait_until_ending(trainer.pid)
            stopped.set()

        def trap(reported, when, _):
            if (reported, when) != (name, "after") or not (begun.is_set() or condition()):
                return False
            if not begun.is_set():
                begun.set()
                threading.Thread(target=stop_then).start()
            if not seconds:
                stopped.wait(MAX_WAIT_SECONDS)
            return False

        status_server.trap = trap
        assert stopped.wait(MAX_WAIT_SECONDS), trainer.log.read_text()
        assert trainer.wait() == exit_code, trainer.log.read_text()
        status_server.trap = lambda *_: False
        status_server.lose_trainers()

    return stop


def test_an_idle_trainer_ends_at_once(start_trainer, stop_at, status_server):
    trainer = start_trainer()
    waiting = []
    status_server.trap = lambda reported, when, _: (
        (reported, when) == ("claims", "before") and waiting.append(1) and False
    )
    while not waiting:
        time.sleep(0.005)
    trainer.send(signal.SIGTERM)
    assert trainer.wait(CLAIM_WAIT_SECONDS) == 0
    assert "trainer ends" in trainer.log.read_text().splitlines()[-1]


@pytest.mark.parametrize(
    ("report", "is_reached", "saved"),
    [
        pytest.param("training_started", lambda job: True, False, id="before its first step"),
        pytest.param("gradient_step", lambda job: len(job.events) == 9, True, id="in a step"),
        pytest.param("progress", lambda job: len(job.progress) == 3, True, id="after saving"),
    ],
)
def test_a_job_is_saved_returned_and_continued(
    status_server, start_trainer, finish, offer_long, expected_long, stop_at, report, is_reached, saved
):
    expected = expected_long()
    job = offer_long()
    trainer = start_trainer(**({} if report == "progress" else RARELY))
    stop_at(trainer, report, lambda: is_reached(job))
    assert (job.state, job.releases, job.failures) == ("Queued", 1, [])
    assert bool(job.progress) == saved
    assert not saved or job.resume["step"] == len(job.events) - 1
    check_store(status_server.root)
    finish(job, **RARELY)
    assert job.attempt == 2
    assert any("job resumed" in line for line in job.lines) == saved
    check_same(status_server, job, expected)


def test_a_job_whose_data_is_being_tokenized_is_returned_at_once(status_server, start_trainer, offer_long, stop_at):
    job = offer_long(too_long=200)
    stop_at(start_trainer(), "claims", seconds=0.3)
    assert (job.state, job.releases, job.failures, job.events) == ("Queued", 1, [], {})


def test_several_jobs_are_saved_and_returned(status_server, start_trainer, offer_long, expected_long, stop_at):
    expected = [expected_long(number) for number in (1, 2)]
    jobs = [offer_long(number) for number in (1, 2)]
    stop_at(start_trainer(**RARELY), "gradient_step", lambda: all(len(job.events) > 2 for job in jobs))
    assert [(job.state, job.releases, len(job.progress)) for job in jobs] == [("Queued", 1, 1)] * 2
    trainer = start_trainer(**RARELY)
    status_server.wait_for(lambda: all(job.state == "Trained" for job in jobs))
    trainer.send(signal.SIGTERM)
    assert trainer.wait() == 0
    for job, outcome in zip(jobs, expected, strict=True):
        check_same(status_server, job, outcome)


def leave_little_time_for_steps() -> None:
    """A trainer that has one second for its steps after SIGTERM, and the rest of the grace period for saving."""
    job_module.STEPS_SHARE = 1 / float(os.environ["TRAINYARD_GRACE_SECONDS"])
    main()


def test_a_step_that_takes_too_long_is_abandoned_and_earlier_steps_are_saved(status_server, start_trainer, stop_at):
    rows = [("Name a colour.", "Red.")] * 80 + [("Name a colour.", "Red. " * 800)] * 80
    job = status_server.add("SFT", write_rows(rows), {"batch_size": 80})
    trainer = start_trainer(f"{__name__}:leave_little_time_for_steps", **RARELY, TRAINYARD_MAX_SEQUENCE_LENGTH="4096")
    stop_at(trainer, "gradient_step")
    assert (job.state, job.releases) == ("Queued", 1)
    assert [saved["step"] for saved in job.progress] == [1]
    check_store(status_server.root)


def test_steps_have_three_quarters_of_the_time_that_is_left():
    shutdown, now = Shutdown(), time.monotonic()
    shutdown.require_time_left()
    shutdown.request(400)
    assert 299 < shutdown.deadline - now < 400
    shutdown.require_time_left()
    shutdown.request(0)
    with pytest.raises(ShuttingDown, match="its grace period is over"):
        shutdown.require_time_left()


def test_a_job_whose_steps_are_done_is_finished(start_trainer, offer_long, stop_at):
    job = offer_long()
    stop_at(start_trainer(**RARELY), "gradient_step", lambda: len(job.events) == LONG_STEPS + 1)
    assert (job.state, job.releases, len(job.checkpoints)) == ("Trained", 0, 1)


def test_a_trainer_of_one_job_trains_no_other_and_ends_with_it(status_server, start_trainer):
    rows = write_rows([("Name a colour.", "Red.")])
    first, only, failing = [status_server.add("SFT", rows, config) for config in ({}, {}, {"batch_size": "many"})]
    assert start_trainer(TRAINYARD_JOB_ID=only.claim["id"]).wait() == 0
    assert (first.state, only.state) == ("Queued", "Trained")
    assert start_trainer(TRAINYARD_JOB_ID=failing.claim["id"]).wait() == process.NOT_TRAINED
    assert (first.state, failing.state) == ("Queued", "Failed")


def test_a_trainer_of_one_job_that_is_stopped_has_not_succeeded(
    status_server, start_trainer, offer_long, expected_long, stop_at
):
    expected, job = expected_long(), offer_long()
    alone = RARELY | {"TRAINYARD_JOB_ID": job.claim["id"]}
    stop_at(start_trainer(**alone), "gradient_step", lambda: len(job.events) == 9, exit_code=STOPPED_EARLY)
    assert (job.state, job.releases, job.resume["step"]) == ("Queued", 1, len(job.events) - 1)
    assert start_trainer(**alone).wait() == 0
    check_same(status_server, job, expected)


def test_a_process_that_is_started_by_its_module_exits_with_0(status_server, start_trainer):
    trainer = start_trainer("testing.trainer_processes:run_by_name")
    job = status_server.add("SFT", write_rows([("Name a colour.", "Red.")]), {})
    status_server.wait_for(lambda: job.state == "Trained")
    trainer.send(signal.SIGTERM)
    assert trainer.wait() == 0
    assert "trainer ends" in trainer.log.read_text().splitlines()[-1]


def lead_a_busy_life(_settings) -> None:
    """The end of a trainer's work while threads still call PyTorch all the time."""
    begun = threading.Event()

    def compute() -> None:
        numbers = torch.ones(64, requires_grad=True)
        while True:
            (numbers * numbers).sum().backward()
            begun.set()

    for _ in range(4):
        threading.Thread(target=compute, daemon=True).start()
    begun.wait()
    ends = {"told to": SystemExit(0), "sentence": SystemExit("It is over."), "error": ArithmeticError("It is over.")}
    raise ends[os.environ["TRAINYARD_TEST_END"]]


def end_beside_busy_threads() -> None:
    process.run = lead_a_busy_life
    main()


@pytest.mark.parametrize(
    ("end", "exit_code", "last"),
    [("told to", 0, "trainer ends"), ("sentence", 1, "It is over."), ("error", 1, "ArithmeticError: It is over.")],
)
def test_a_trainer_ends_with_its_exit_code_while_its_threads_are_busy(start_trainer, end, exit_code, last):
    trainer = start_trainer(f"{__name__}:end_beside_busy_threads", TRAINYARD_TEST_END=end)
    assert trainer.wait() == exit_code, trainer.log.read_text()
    lines = trainer.log.read_text().splitlines()
    assert any("trainer ends" in line for line in lines)
    assert last in lines[-1]

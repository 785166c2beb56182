"""A trainer that shares its device computes as one that does not, and gives way between two passes."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import torch

from testing.deadlines import MAX_WAIT_SECONDS
from testing.scheduled_runs import BUDGET, SMALL, finish, list_losses, make_run, make_steps, run_all
from testing.tiny_models import make_base, open_random
from trainyard_base_model.device_turns import GRANTED, RELEASE, WANT, YIELD
from trainyard_trainer.compute.execution.device_turns import DeviceTurns, connect_to_engine
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.execution.shared_executor import SharedExecutor
from trainyard_trainer.compute.model.offload import Offload
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.sft.recipe import SFT


class ScriptedEngine:
    """Grants each turn, and asks for its end at once. Records what it receives."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received: list[bytes] = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        with suppress(ConnectionError):  # it ends with unread bytes
            while message := self.connection.recv(1):
                self.received.append(message)
                if message == WANT:
                    self.connection.sendall(GRANTED + YIELD)


@contextmanager
def connect():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield DeviceTurns(ours), ScriptedEngine(theirs)


class Elsewhere(Offload):
    """Counts the times that it leaves the device. On a processor, it copies everything as on a GPU."""

    times = 0

    def leave(self):
        for tensor in self.list_tensors():
            tensor.data = self.copy_to_processor(tensor).clone()
        self.times += 1


def test_a_run_in_many_turns_has_the_losses_of_a_run_in_one():
    alone = Executor(make_base())
    expected = list_losses(run_all(alone, [make_run(alone, make_steps(1, 6))])[0])
    with connect() as (turns, engine):
        executor = SharedExecutor(make_base(), turns)
        executor.offload = Elsewhere(executor.slots)
        found = list_losses(run_all(executor, [make_run(executor, make_steps(1, 6))])[0])
        assert executor.offload.times >= 6
        assert engine.received[:4] == [WANT, RELEASE, WANT, RELEASE]
    assert found == expected


def test_everything_of_a_slot_and_of_the_base_is_moved():
    executor = Executor(make_base())
    slot = executor.find(open_random(executor, SMALL))
    for _ in range(2):  # the second gradient stays
        for parameter in slot.parameters.values():
            parameter.grad = torch.ones_like(parameter)
        if not slot.optimizer.state:
            executor.step_optimizer(slot.name, SFT, 1e-3)
    moved = {id(tensor) for tensor in Offload(executor.slots).list_tensors()}
    model = executor.base.model
    states = [tensor for state in slot.optimizer.state.values() for tensor in state.values()]
    gradients = [parameter.grad for parameter in slot.parameters.values()]
    assert len(states) == 3 * len(gradients)
    assert {id(tensor) for tensor in (*model.parameters(), *model.buffers(), *gradients, *states)} == moved


def test_frozen_weights_are_copied_once():
    offload = Offload(Executor(make_base()).slots)
    frozen = next(parameter for parameter in offload.slots.base.model.parameters())
    frozen.requires_grad_(False)
    assert offload.copy_to_processor(frozen) is offload.copy_to_processor(frozen)


def test_a_trainer_without_work_returns_the_device():
    with connect() as (turns, engine):
        turns.acquire()
        with Scheduler(SharedExecutor(make_base(), turns), Policy(BUDGET)):
            deadline = time.monotonic() + MAX_WAIT_SECONDS
            # The engine's thread may read later.
            while (turns.is_held or len(engine.received) < 2) and time.monotonic() < deadline:
                time.sleep(0.01)
        assert not turns.is_held
    assert engine.received == [WANT, RELEASE]


def test_a_run_that_is_only_saved_needs_no_turn():
    with connect() as (turns, engine):
        executor = SharedExecutor(make_base(), turns)
        run = make_run(executor, make_steps(1, 1), is_shutting_down=lambda: True)
        turns.release()
        begun = len(engine.received)
        with Scheduler(executor, Policy(BUDGET)) as scheduler:
            scheduler.submit(run)
            steps, state = finish(run)
        assert (steps, state.steps_taken) == ([], 0)
        assert WANT not in engine.received[begun:]


def test_without_its_engine_a_trainer_has_the_device():
    with connect() as (turns, engine):
        engine.connection.shutdown(socket.SHUT_RDWR)
        for _ in range(2):
            turns.acquire()
            assert not turns.is_yield_due()
            turns.release()


def test_a_trainer_waits_for_its_engine(tmp_path, monkeypatch):
    monkeypatch.setattr("trainyard_trainer.compute.execution.device_turns.RETRY_SECONDS", 0.01)
    found = []
    thread = threading.Thread(target=lambda: found.append(connect_to_engine(tmp_path / "device")))
    thread.start()
    thread.join(0.1)
    assert not found
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "device"))
        listener.listen()
        thread.join(MAX_WAIT_SECONDS)
    assert found

"""The processes of one trainer, one for each GPU, as torchrun starts them. Rank 0 broadcasts commands to the others.

Every collective needs all processes. When one of them ends, all end.
"""

import json
import os
import select
import threading
from datetime import timedelta
from typing import Any, cast

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.rendezvous import rendezvous

from trainyard_trainer import log
from trainyard_trainer.compute.execution.executor import OnFailure
from trainyard_trainer.failures import DeviceLost, JobFailure, explain_failure

# Nothing is sent between commands, and a trainer may be idle for long.
MAX_IDLE = timedelta(days=365)
# A process sees a broken connection a moment before it sees the end of the other process.
PEER_EXIT_SECONDS = 1.0
FAILURE = "trainyard/failure"
PROCESS_LOST = JobFailure(
    "Internal", "TrainerProcessLost", "One of the trainer's processes ended unexpectedly.", retryable=True
)


class TrainerProcessGroup:
    """This process and its connections to the others. Calls `on_failure` once, from any thread, when they cannot
    continue."""

    def __init__(self) -> None:
        device_type = "cuda" if torch.cuda.is_available() else "cpu"
        self.store, self.rank, self.world_size = next(rendezvous("env://"))
        if device_type == "cuda":
            torch.cuda.set_device(self.rank)
        backend = "cpu:gloo,cuda:nccl" if device_type == "cuda" else "gloo"
        dist.init_process_group(backend, store=self.store, rank=self.rank, world_size=self.world_size)
        self.mesh = init_device_mesh(device_type, (self.world_size,))
        self.command_group = cast(dist.ProcessGroup, dist.new_group(backend="gloo", timeout=MAX_IDLE))
        self.on_failure: OnFailure = lambda _: os._exit(1)
        self.is_ending = self.failed = False
        self.lock = threading.Lock()
        self.peer_exited = threading.Event()  # one of the other processes
        threading.Thread(target=self.watch, args=(self.poll_peers(),), name="peers", daemon=True).start()

    def poll_peers(self) -> select.poll:
        """A poll object that becomes readable when another process has ended."""
        pids: list[int] = [0] * self.world_size
        dist.all_gather_object(pids, os.getpid(), group=self.command_group)
        exits = select.poll()
        for rank, pid in enumerate(pids):
            if rank != self.rank:
                exits.register(os.pidfd_open(pid), select.POLLIN)
        return exits

    def watch(self, exits: select.poll) -> None:
        exits.poll()
        self.peer_exited.set()
        if not self.is_ending:
            self.fail(PROCESS_LOST)

    def broadcast(self, command: object) -> None:
        """Sends a command of rank 0 to all other processes. The command can be any object that pickle supports."""
        dist.broadcast_object_list([command], src=0, group=self.command_group)

    def receive(self) -> Any:
        box: list[Any] = [None]
        dist.broadcast_object_list(box, src=0, group=self.command_group)
        return box[0]

    def gather(self, found: object) -> list:
        """In rank 0, returns the results of all processes by rank. In the others, a list of None."""
        every: list[Any] = [None] * self.world_size
        dist.gather_object(found, every if self.rank == 0 else None, dst=0, group=self.command_group)
        return every

    def explain(self, cause: Exception) -> DeviceLost:
        """Turns an exception of this process, or the end of another one, into the failure of all."""
        log.error("a process of the trainer failed", cause, rank=self.rank)
        ended = self.peer_exited.wait(PEER_EXIT_SECONDS)
        return self.fail(PROCESS_LOST if ended else explain_failure(cause))

    def fail(self, failure: JobFailure) -> DeviceLost:
        """Ends the work of all processes. The failure that was recorded first is reported."""
        first = self.record_failure(failure)
        with self.lock:
            already, self.failed = self.failed, True
        if not already:
            log.warn("the trainer's processes cannot go on", rank=self.rank, reason=first.reason)
            self.on_failure(first)
        return DeviceLost(first.message)

    def record_failure(self, failure: JobFailure) -> JobFailure:
        """Returns the failure that was recorded first. The store belongs to torchrun, which may have ended."""
        mine = json.dumps([failure.category, failure.reason, failure.message, failure.retryable])
        try:
            *fields, retryable = json.loads(self.store.compare_set(FAILURE, "", mine))
        except dist.DistError:
            return failure
        return JobFailure(*fields, retryable=retryable)

    def destroy(self) -> None:
        """All processes call this after the last command."""
        self.is_ending = True
        dist.barrier(group=self.command_group)
        dist.destroy_process_group()

"""The processes of one trainer, one per GPU, as torchrun starts them. The first one leads, the others do as it orders.

What they compute together needs all of them, so that none goes on when another has ended.
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
from trainyard_trainer.compute.machine import OnLoss
from trainyard_trainer.failures import DeviceLost, JobFailure, explain_failure

# Between orders nothing is sent: a trainer may be idle for long.
LONGEST_IDLE = timedelta(days=365)
# Who fails because another process ended sees its connection break a moment before it sees the end itself.
PATIENCE_SECONDS = 1.0
FAILURE = "trainyard/failure"
ENDED = JobFailure(
    "Internal", "TrainerProcessLost", "One of the trainer's processes ended unexpectedly.", retryable=True
)


class Crew:
    """This process among the others. `on_loss` is called once when they cannot go on, from any thread."""

    def __init__(self) -> None:
        device_type = "cuda" if torch.cuda.is_available() else "cpu"
        self.store, self.rank, self.size = next(rendezvous("env://"))
        if device_type == "cuda":
            torch.cuda.set_device(self.rank)
        backend = "cpu:gloo,cuda:nccl" if device_type == "cuda" else "gloo"
        dist.init_process_group(backend, store=self.store, rank=self.rank, world_size=self.size)
        self.mesh = init_device_mesh(device_type, (self.size,))
        self.orders = cast(dist.ProcessGroup, dist.new_group(backend="gloo", timeout=LONGEST_IDLE))
        self.on_loss: OnLoss = lambda _: os._exit(1)
        self.ending = self.lost = False
        self.lock = threading.Lock()
        self.ended = threading.Event()  # one of the others
        threading.Thread(target=self.watch, args=(self.open_ends(),), name="crew", daemon=True).start()

    def open_ends(self) -> select.poll:
        """Becomes readable when one of the other processes ends, however it does."""
        pids: list[int] = [0] * self.size
        dist.all_gather_object(pids, os.getpid(), group=self.orders)
        ends = select.poll()
        for rank, pid in enumerate(pids):
            if rank != self.rank:
                ends.register(os.pidfd_open(pid), select.POLLIN)
        return ends

    def watch(self, ends: select.poll) -> None:
        ends.poll()
        self.ended.set()
        if not self.ending:
            self.lose(ENDED)

    def order(self, order: object) -> None:
        """The leader's, to all others; whatever can be pickled."""
        dist.broadcast_object_list([order], src=0, group=self.orders)

    def receive(self) -> Any:
        box: list[Any] = [None]
        dist.broadcast_object_list(box, src=0, group=self.orders)
        return box[0]

    def gather(self, found: object) -> list:
        """What each process found, in their order; only the leader is told."""
        every: list[Any] = [None] * self.size
        dist.gather_object(found, every if self.rank == 0 else None, dst=0, group=self.orders)
        return every

    def explain(self, cause: Exception) -> DeviceLost:
        """For an exception that this process met: what it or the end of another means for all."""
        log.error("a process of the trainer failed", cause, rank=self.rank)
        ended = self.ended.wait(PATIENCE_SECONDS)
        return self.lose(ENDED if ended else explain_failure(cause))

    def lose(self, failure: JobFailure) -> DeviceLost:
        """The processes cannot go on. The first failure that one of them notes is the one that counts."""
        first = self.note(failure)
        with self.lock:
            already, self.lost = self.lost, True
        if not already:
            log.warn("the trainer's processes cannot go on", rank=self.rank, reason=first.reason)
            self.on_loss(first)
        return DeviceLost(first.message)

    def note(self, failure: JobFailure) -> JobFailure:
        """What was noted first; the store is torchrun's, and may be gone with it."""
        mine = json.dumps([failure.category, failure.reason, failure.message, failure.retryable])
        try:
            *told, retryable = json.loads(self.store.compare_set(FAILURE, "", mine))
        except dist.DistError:
            return failure
        return JobFailure(*told, retryable=retryable)

    def leave(self) -> None:
        """All processes do it, when the leader's last order is done."""
        self.ending = True
        dist.barrier(group=self.orders)
        dist.destroy_process_group()

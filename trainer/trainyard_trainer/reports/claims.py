"""Claims of the status server, and the lease under which this process may report."""

import threading
import time
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import dataclass

from trainyard_trainer import log
from trainyard_trainer.failures import Fenced
from trainyard_trainer.reports.job_warnings import JobWarning, present_warnings
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries

# The interval is short, because only the answer to a heartbeat says that a job was cancelled.
HEARTBEAT_SECONDS = 1.0
FIRST_RETRY_SECONDS = 0.2
MAX_RETRY_SECONDS = 2.0


# Which trajectories' tokens are recorded: the values of `Claim.token_statistics`.
OFF, SAMPLED, ALL = "off", "sampled", "all"


@dataclass(frozen=True)
class Artifact:
    uri: str
    digest: str


@dataclass(frozen=True)
class Claim:
    """One attempt at one job."""

    id: str
    attempt: int
    method: str
    input: Artifact
    config: dict
    checkpoint_id: str
    from_checkpoint: Artifact | None
    lease_seconds: float
    entity: str = ""
    resume: Artifact | None = None
    reference: Artifact | None = None
    token_statistics: str = OFF


def parse_claim(body: dict) -> Claim:
    """Members that older status servers do not send have defaults."""
    return Claim(
        id=body["id"],
        attempt=body["attempt"],
        method=body["method"],
        input=Artifact(body["input"]["uri"], body["input"]["digest"]),
        config=body.get("config") or {},
        checkpoint_id=body["checkpoint_id"],
        from_checkpoint=parse_artifact(body.get("from_checkpoint")),
        lease_seconds=float(body["lease_seconds"]),
        entity=body.get("entity") or "",
        resume=parse_artifact(body.get("resume")),
        reference=parse_artifact(body.get("reference")),
        token_statistics=body.get("token_statistics") or OFF,
    )


def parse_artifact(body: dict | None) -> Artifact | None:
    return Artifact(body["uri"], body["digest"]) if body else None


class Lease:
    """Reports of one attempt. A thread of its own sends heartbeats.

    Use it as a context. While the status server is unavailable, reports are repeated until the lease has certainly
    expired by this machine's clock. After that, or once the server answers 409, every call raises Fenced.
    """

    def __init__(self, client: StatusClient, claim: Claim) -> None:
        self.client = client
        self.path = f"/v1/jobs/{claim.id}/attempts/{claim.attempt}"
        self.lease_seconds = claim.lease_seconds
        self.good_until = time.monotonic() + claim.lease_seconds
        self.ended = threading.Event()
        self.fenced: str | None = None
        self.thread = threading.Thread(target=copy_context().run, args=(self.keep_alive,), daemon=True)

    def __enter__(self) -> "Lease":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()

    def keep_alive(self) -> None:
        while not self.ended.wait(HEARTBEAT_SECONDS):
            try:
                self.post_once("heartbeat", {})
            except StatusUnavailable as cause:
                log.warn("heartbeat failed", job=self.path, error=str(cause))
            except Fenced:
                return

    def check(self) -> None:
        """Raises Fenced when this process must stop the job."""
        if self.fenced is None and time.monotonic() > self.good_until:
            self.fenced = "the lease ran out while the status server was away"
        if self.fenced is not None:
            raise Fenced(self.fenced)

    def report_start(self, num_steps: int, numbers: dict[str, float], warnings: Sequence[JobWarning] = ()) -> None:
        # Clients show a progress bar of this length, whatever the steps contain.
        self.post_event(0, "training_started", numbers | {"num_sequences": num_steps}, **present_warnings(warnings))

    def post_event(self, seq: int, kind: str, data: dict, **more: list[dict]) -> None:
        """The server merges `more`, the warnings of a start, with its own."""
        self.post("events", {"events": [{"seq": seq, "type": kind, "data": data, **more}]})

    def post_checkpoint(self, uri: str, digest: str, metrics: dict, warnings: Sequence[JobWarning] = ()) -> None:
        """`warnings` are those that were only known at the end."""
        self.post("checkpoint", {"uri": uri, "digest": digest, "metrics": metrics, **present_warnings(warnings)})

    def post_progress(self, saved: Artifact, step: int) -> None:
        """From now on, another attempt continues from this state."""
        self.post("progress", {"uri": saved.uri, "digest": saved.digest, "step": step})

    def post_release(self) -> None:
        """Releases the job for another trainer."""
        self.post("release", {})

    def post_failure(self, report: dict) -> None:
        self.post("failure", report)

    def post(self, name: str, body: dict) -> None:
        """Repeats a report until the server accepts it. That is harmless, because its numbers identify it."""

        def try_once() -> None:
            self.check()
            self.post_once(name, body)

        def report(cause: Exception) -> None:
            log.warn("report failed, trying again", job=self.path, report=name, error=str(cause))

        pauses = back_off(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        call_with_retries(try_once, RetryPolicy(StatusUnavailable, pauses, report))

    def post_once(self, name: str, body: dict) -> None:
        started = time.monotonic()  # the server counts the lease from a later moment
        try:
            self.client.post(f"{self.path}/{name}", body)
        except Fenced as cause:
            self.fenced = str(cause)
            raise
        self.good_until = max(self.good_until, started + self.lease_seconds)

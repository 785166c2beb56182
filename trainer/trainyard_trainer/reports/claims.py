"""Claims of the status server, and the lease under which this process may report."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass

from trainyard_trainer import log
from trainyard_trainer.failures import Fenced, JobFailure
from trainyard_trainer.reports.job_warnings import JobWarning, present_warnings
from trainyard_trainer.reports.spool import Spool
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries

# The interval is short, because only the answer to a heartbeat says that a job was cancelled.
HEARTBEAT_SECONDS = 1.0
FIRST_RETRY_SECONDS = 0.2
MAX_RETRY_SECONDS = 2.0


# Which trajectories' tokens are recorded: the values of `Claim.token_statistics`.
OFF, SAMPLED, ALL = "off", "sampled", "all"


# Clients may write a model's name `ENTITY/PROJECT/NAME` as an address.
MODEL_SCHEME = "wandb-artifact:///"


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
    entity: str = ""
    resume: Artifact | None = None
    reference: Artifact | None = None
    token_statistics: str = OFF
    model_name: str = ""

    def is_of_model(self, name: str) -> bool:
        """Whether a name of a request is that of the job's model, at any of its steps."""
        path, _, _ = name.removeprefix(MODEL_SCHEME).partition(":")
        return path == self.model_name


def parse_claim(body: dict) -> Claim:
    return Claim(
        id=body["id"],
        attempt=body["attempt"],
        method=body["method"],
        input=Artifact(body["input"]["uri"], body["input"]["digest"]),
        config=body["config"],
        checkpoint_id=body["checkpoint_id"],
        from_checkpoint=parse_artifact(body["from_checkpoint"]),
        entity=body["entity"],
        resume=parse_artifact(body["resume"]),
        reference=parse_artifact(body["reference"]),
        token_statistics=body["token_statistics"],
        model_name=body["model_name"],
    )


def parse_artifact(body: dict | None) -> Artifact | None:
    return Artifact(body["uri"], body["digest"]) if body else None


class Lease:
    """Reports of one attempt. One thread sends heartbeats, and one sends events and progress in their order.

    Use it as a context. While the status server is unavailable, the job goes on, and its reports wait. No lease expires
    in that time. Only the server ends a lease: once it answers 409, every call raises Fenced.
    """

    def __init__(self, client: StatusClient, claim: Claim) -> None:
        self.client = client
        self.path = f"/v1/jobs/{claim.id}/attempts/{claim.attempt}"
        self.ended = threading.Event()
        self.fenced: str | None = None
        self.rejection: JobFailure | None = None
        self.spool = Spool(self.send_spooled, self.check)
        self.threads = [self.make_thread(self.keep_alive), self.make_thread(self.spool.run)]

    def __enter__(self) -> "Lease":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.spool.close()

    def make_thread(self, run: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=copy_context().run, args=(run,), daemon=True)

    def keep_alive(self) -> None:
        while not self.ended.wait(HEARTBEAT_SECONDS):
            try:
                self.post_once("heartbeat", {})
            except StatusUnavailable as cause:
                log.warn("heartbeat failed", job=self.path, error=str(cause))
            except Fenced:
                return

    def check(self) -> None:
        """Raises Fenced when this process must stop the job, and a JobFailure when the server rejects its reports."""
        if self.fenced is not None:
            raise Fenced(self.fenced)
        if self.rejection is not None:
            raise self.rejection

    def report_start(self, num_steps: int, numbers: dict[str, float], warnings: Sequence[JobWarning] = ()) -> None:
        """Waits until the server has it, so that no step begins in an attempt that is over."""
        # Clients show a progress bar of this length, whatever the steps contain.
        self.post_event(0, "training_started", numbers | {"num_sequences": num_steps}, **present_warnings(warnings))
        self.flush()

    def post_event(self, seq: int, kind: str, data: dict, **more: list[dict]) -> None:
        """The server merges `more`, the warnings of a start, with its own."""
        self.spool.put("events", {"events": [{"seq": seq, "type": kind, "data": data, **more}]})

    def post_progress(self, saved: Artifact, step: int) -> None:
        """From then on, another attempt continues from this state."""
        self.spool.put("progress", {"uri": saved.uri, "digest": saved.digest, "step": step})

    def flush(self) -> None:
        """Waits until the server has all reports so far."""
        self.spool.flush()

    def post_checkpoint(self, uri: str, digest: str, metrics: dict, warnings: Sequence[JobWarning] = ()) -> None:
        """`warnings` are those that were only known at the end."""
        self.post("checkpoint", {"uri": uri, "digest": digest, "metrics": metrics, **present_warnings(warnings)})

    def post_release(self) -> None:
        """Releases the job for another trainer."""
        self.post("release", {})

    def post_dropped(self) -> None:
        """Says that nothing of the job is held any more. If it fails, the next claim says the same."""
        try:
            self.client.post(f"{self.path}/dropped", {})
        except Fenced:  # a status server of before knows no such report
            pass
        except (StatusUnavailable, JobFailure) as cause:
            log.warn("it could not be reported that a job was dropped", job=self.path, error=str(cause))

    def post_failure(self, report: dict) -> None:
        """After a rejected report nothing else is sent."""
        if self.rejection is None:
            self.flush()
        self.rejection = None
        self.send("failure", report)

    def post(self, name: str, body: dict) -> None:
        """Sends a report after all earlier ones."""
        self.flush()
        self.send(name, body)

    def send_spooled(self, name: str, body: dict) -> None:
        try:
            self.send(name, body)
        except JobFailure as cause:
            self.rejection = cause
            raise

    def send(self, name: str, body: dict) -> None:
        """Repeats a report until the server accepts it. That is harmless, because its numbers identify it."""

        def try_once() -> None:
            self.check()
            self.post_once(name, body)

        def report(cause: Exception) -> None:
            log.warn("report failed, trying again", job=self.path, report=name, error=str(cause))

        pauses = back_off(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        call_with_retries(try_once, RetryPolicy(StatusUnavailable, pauses, report))

    def post_once(self, name: str, body: dict) -> None:
        try:
            self.client.post(f"{self.path}/{name}", body)
        except Fenced as cause:
            self.fenced = str(cause)
            raise

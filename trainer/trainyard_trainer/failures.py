"""Failures of jobs. The category decides whether another attempt makes sense."""

import errno

import torch

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable


class JobFailure(Exception):
    """A failure that is reported: `category` User, Capacity or Internal, and a sentence that says what to do."""

    def __init__(self, category: str, reason: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.category = category
        self.reason = reason
        self.message = message
        self.retryable = retryable


class InvalidInput(JobFailure):
    """The client's input cannot be trained on. The same input always fails the same way."""

    def __init__(self, message: str, reason: str = "InvalidInput") -> None:
        super().__init__("User", reason, message, retryable=False)


class DeviceLost(Exception):
    """Nothing can be computed any more, because a process of the group failed or ended. All of them end."""


class ShuttingDown(Exception):
    """The process is about to end. Another trainer continues the job."""


class Fenced(Exception):
    """The attempt is over for this process: it was cancelled, lost its lease, or was given to another process. Nothing
    is reported."""


def explain_failure(cause: Exception) -> JobFailure:
    """Describes any exception that ended a job, for the report."""
    if isinstance(cause, JobFailure):
        return cause
    if isinstance(cause, torch.OutOfMemoryError):
        message = (
            "The GPU ran out of memory, even with smaller batches: train on shorter trajectories, or ask the"
            " administrator for a smaller maxSequenceLength of the base model or a larger GPU."
        )
        return JobFailure("Capacity", "CudaOutOfMemory", message, retryable=True)
    if isinstance(cause, torch.AcceleratorError):
        message = f"The GPU failed. Its trainer restarts: {cause}"[:1000]
        return JobFailure("Internal", "DeviceFailed", message, retryable=True)
    if isinstance(cause, OSError):
        return explain_os_error(cause)
    if isinstance(cause, StoreUnavailable):
        return JobFailure("Internal", "ArtifactStoreUnavailable", f"{cause}."[:1000], retryable=True)
    if isinstance(cause, ArtifactError):
        message = f"{cause}. Fork the model at an earlier step, or ask the administrator to restore the file."
        return JobFailure("Internal", "ArtifactDamaged", message, retryable=True)
    return JobFailure("Internal", "TrainerError", f"{type(cause).__name__}: {cause}"[:1000], retryable=True)


def explain_os_error(cause: OSError) -> JobFailure:
    """The only files of a job are those of the artifact store and its cache."""
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        message = "The artifact store is full. Delete checkpoints, or ask the administrator for more space."
        return JobFailure("Capacity", "StorageFull", message, retryable=True)
    message = f"The artifact store cannot be used: {cause.strerror or cause}. Ask the administrator to check it."
    return JobFailure("Internal", "ArtifactStoreUnavailable", message, retryable=True)

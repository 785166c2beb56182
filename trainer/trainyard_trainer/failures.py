"""How a job ends badly. The category decides whether trying again makes sense."""

import errno

import torch

from trainyard_artifacts.addresses import ArtifactError, StoreUnavailable


class JobFailure(Exception):
    """A failure that is reported: `category` User, Capacity or Internal, and a sentence to act on."""

    def __init__(self, category: str, reason: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.category = category
        self.reason = reason
        self.message = message
        self.retryable = retryable


class InvalidInput(JobFailure):
    """What the client sent cannot be trained on; the same input fails the same way again."""

    def __init__(self, message: str, reason: str = "InvalidInput") -> None:
        super().__init__("User", reason, message, retryable=False)


class DeviceLost(Exception):
    """Nothing can be computed any more: a process that others compute with failed or ended. All of them end."""


class ShuttingDown(Exception):
    """The process is about to end; another trainer continues the job."""


class Fenced(Exception):
    """The attempt is over for this process: cancelled, lost its lease, or given to another. Nothing is reported."""


def explain_failure(cause: Exception) -> JobFailure:
    """The report of any exception that ended a job."""
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
    """A job has no files but those of the artifact store and its cache."""
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        message = "The artifact store is full. Delete checkpoints, or ask the administrator for more space."
        return JobFailure("Capacity", "StorageFull", message, retryable=True)
    message = f"The artifact store cannot be used: {cause.strerror or cause}. Ask the administrator to check it."
    return JobFailure("Internal", "ArtifactStoreUnavailable", message, retryable=True)

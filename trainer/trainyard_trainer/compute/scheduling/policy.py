"""The limits of a pass, and which jobs may share it."""

from dataclasses import dataclass

from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.config import OFF, Settings

# The tokens of a pass if the administrator sets no limit.
DEFAULT_GPU_TOKENS, DEFAULT_CPU_TOKENS = 16_384, 4_096


@dataclass(frozen=True)
class Policy:
    """`max_batch_tokens` limits the tokens of a pass, but one example may be longer. `co_batch` says which jobs may
    share a pass: OFF, SAME_ENTITY or ANY."""

    max_batch_tokens: int
    co_batch: str = OFF


def choose_policy(base: Base, settings: Settings) -> Policy:
    """Whole sequences use a GPU well. A CPU works best with what fits into its caches."""
    default = (
        max(DEFAULT_GPU_TOKENS, settings.max_sequence_length) if base.device.type == "cuda" else DEFAULT_CPU_TOKENS
    )
    return Policy(settings.max_batch_tokens or default, settings.co_batch)

"""How much goes through the base at once, and whose."""

from dataclasses import dataclass

from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.config import OFF, Settings

# Tokens of a pass where the administrator says nothing.
DEFAULT_GPU_TOKENS, DEFAULT_CPU_TOKENS = 16_384, 4_096


@dataclass(frozen=True)
class Policy:
    """`max_batch_tokens` bounds the tokens of one pass; one example may be longer. `co_batch` says whose jobs may share
    one: OFF, SAME_ENTITY or ANY."""

    max_batch_tokens: int
    co_batch: str = OFF


def choose_policy(base: Base, settings: Settings) -> Policy:
    """A GPU is filled by whole sequences; a processor by what stays in its caches."""
    default = (
        max(DEFAULT_GPU_TOKENS, settings.max_sequence_length) if base.device.type == "cuda" else DEFAULT_CPU_TOKENS
    )
    return Policy(settings.max_batch_tokens or default, settings.co_batch)

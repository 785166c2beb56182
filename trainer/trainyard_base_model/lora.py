"""The adapters of a base model, from TRAINYARD_LORA: rank, alpha, and the names of layers that get an adapter."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# ART's defaults, which clients expect if the base model names none.
DEFAULT_LORA: Mapping[str, Any] = {"rank": 8, "alpha": 16}


@dataclass(frozen=True)
class LoraSettings:
    rank: int
    alpha: int
    target_modules: tuple[str, ...] | None = None


def read_lora(env: Mapping[str, str]) -> LoraSettings:
    """TRAINYARD_LORA is JSON. Absent members have ART's defaults. Raises ValueError."""
    try:
        given = json.loads(env.get("TRAINYARD_LORA") or "{}")
        lora = {**DEFAULT_LORA} | {key: value for key, value in given.items() if value is not None}
        targets = lora.get("target_modules")
        named = None if targets is None else tuple(targets)
        settings = LoraSettings(int(lora["rank"]), int(lora["alpha"]), named)
    except (ValueError, TypeError, AttributeError) as cause:
        raise ValueError("TRAINYARD_LORA must be a JSON object of rank, alpha and target_modules") from cause
    if settings.rank < 1 or settings.alpha < 1 or named == ():
        raise ValueError("TRAINYARD_LORA: rank and alpha must be positive, target_modules not empty")
    return settings

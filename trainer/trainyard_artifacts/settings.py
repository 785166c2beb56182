"""The artifact store of a process, from its environment."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_CACHE_BYTES = 20 << 30


class StoreSettingsError(Exception):
    """A variable is missing or wrong. The message names the variable, never its value."""


@dataclass(frozen=True)
class StoreSettings:
    """A store on a shared folder, or on S3 with a local cache folder."""

    address: str
    endpoint: str | None = None
    region: str | None = None
    cache: Path = Path(tempfile.gettempdir()) / "trainyard-artifacts"
    cache_bytes: int = DEFAULT_CACHE_BYTES


def read_store_settings(env: Mapping[str, str]) -> StoreSettings:
    """S3 credentials come from AWS's own variables and files."""
    address = env.get("TRAINYARD_ARTIFACTS") or ""
    if not address.startswith(("/", "s3://")):
        raise StoreSettingsError("TRAINYARD_ARTIFACTS must be an absolute folder or s3://BUCKET[/PREFIX]")
    size = env.get("TRAINYARD_ARTIFACT_CACHE_BYTES") or str(DEFAULT_CACHE_BYTES)
    if not size.isdigit():
        raise StoreSettingsError("TRAINYARD_ARTIFACT_CACHE_BYTES must be a number of bytes")
    cache = env.get("TRAINYARD_ARTIFACT_CACHE")
    return StoreSettings(
        address=address,
        endpoint=env.get("TRAINYARD_S3_ENDPOINT") or None,
        region=env.get("TRAINYARD_S3_REGION") or None,
        cache=Path(cache) if cache else StoreSettings.cache,
        cache_bytes=int(size),
    )

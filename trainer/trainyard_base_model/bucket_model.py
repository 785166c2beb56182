"""The settings of a base model in a bucket, from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_CACHE = Path("/tmp/trainyard-models")


@dataclass(frozen=True)
class BucketModel:
    """A folder in a bucket, and its own credentials, which are not those of the artifact store."""

    uri: str
    endpoint: str | None = None
    region: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    cache: Path = DEFAULT_CACHE


def is_bucket_model(model: str) -> bool:
    """Whether a base model is a folder in a bucket, and not a local folder or a name on the hub."""
    return model.startswith("s3://")


def read_bucket_model(model: str, env: Mapping[str, str]) -> BucketModel | None:
    """The settings of a base model in a bucket; None for a local folder or a name on the hub."""
    if not is_bucket_model(model):
        return None
    cache = env.get("TRAINYARD_MODEL_CACHE")
    return BucketModel(
        uri=model,
        endpoint=env.get("TRAINYARD_MODEL_S3_ENDPOINT") or None,
        region=env.get("TRAINYARD_MODEL_S3_REGION") or None,
        access_key_id=env.get("TRAINYARD_MODEL_S3_ACCESS_KEY_ID") or None,
        secret_access_key=env.get("TRAINYARD_MODEL_S3_SECRET_ACCESS_KEY") or None,
        cache=Path(cache) if cache else DEFAULT_CACHE,
    )

"""Addresses of the artifact store, and the errors of its objects."""

import re

SCHEME = "artifact:///"
KEY = re.compile(r"[a-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")


class ArtifactError(Exception):
    """An artifact is missing or damaged, or its address is invalid."""


class ArtifactMissing(ArtifactError):
    """There is no artifact at this address."""


class StoreUnavailable(Exception):
    """The artifact store does not answer, or rejects the request. The artifact may exist."""


class StoreForbidden(StoreUnavailable):
    """The store's key has no right to do this. Without the right to list the whole bucket, S3 answers the same for an
    object that is missing."""


def parse_key(uri: str) -> str:
    """The key of an `artifact:///KEY` address. A key cannot lead out of the store."""
    key = uri.removeprefix(SCHEME)
    if not uri.startswith(SCHEME) or not KEY.fullmatch(key) or ".." in key:
        raise ArtifactError(f"{uri!r} is not an address in the artifact store ({SCHEME}KEY)")
    return key

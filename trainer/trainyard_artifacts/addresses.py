"""Addresses of the artifact store, and what can be wrong with what lies there."""

import re

SCHEME = "artifact:///"
KEY = re.compile(r"[a-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")


class ArtifactError(Exception):
    """An artifact is missing, is damaged, or has an impossible address."""


class ArtifactMissing(ArtifactError):
    """There is no artifact at this address."""


class StoreUnavailable(Exception):
    """The artifact store does not answer, or answers with an error; nothing is known of the artifact."""


def parse_key(uri: str) -> str:
    """The key of an `artifact:///KEY` address; a key cannot lead out of the store."""
    key = uri.removeprefix(SCHEME)
    if not uri.startswith(SCHEME) or not KEY.fullmatch(key) or ".." in key:
        raise ArtifactError(f"{uri!r} is not an address in the artifact store ({SCHEME}KEY)")
    return key

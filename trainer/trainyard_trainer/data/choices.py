"""Choices of a payload. Training reads the message, the token ids and the log-probabilities."""

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, decode

from trainyard_trainer.data.parts import ABSENT, Values, is_given, read_parts

# A token's bytes as JSON. A longer list cannot be a token.
MAX_BYTES_LENGTH = 4096


class Entry(Struct, gc=False):
    """A sampled token. `top_logprobs`, the largest part of many payloads, are skipped."""

    logprob: float
    token: str | None = None
    bytes: Raw = ABSENT


class Logprobs(Struct):
    content: list[Entry] | None = None
    refusal: list[Entry] | None = None


class ItemParts(Struct):
    finish_reason: Raw = ABSENT
    message: Raw = ABSENT
    logprobs: Raw = ABSENT
    token_ids: Raw = ABSENT


class Kind(Struct):
    finish_reason: Raw = ABSENT
    message: Raw = ABSENT


ITEM, KIND = Decoder(ItemParts), Decoder(Kind)
LOGPROBS, TOKEN_IDS = Decoder(Logprobs), Decoder(list[int])


def is_sampled(content: Raw, where: str) -> bool:
    """A Choice was sampled from a model. Any other item is a plain message."""
    kind = read_parts(content, KIND, where)
    return is_given(kind.finish_reason) and is_given(kind.message)


def read_choice(content: Raw, values: Values, where: str) -> dict:
    """The Choice as the client sent it, without members that training does not read."""
    parts = read_parts(content, ITEM, where)
    logprobs = read_logprobs(parts.logprobs, f"{where}.logprobs")
    token_ids = read_token_ids(parts.token_ids)
    entries = logprobs.content or logprobs.refusal or []
    values.count_sampled(len(entries))
    choice = {"finish_reason": None, "message": values.read(parts.message, f"{where}.message")}
    if token_ids and len(token_ids) == len(entries):
        known = [{"logprob": entry.logprob} for entry in entries]
        return choice | {"logprobs": {"content": known}, "token_ids": token_ids}
    return choice | {"logprobs": {"content": [present_entry(entry) for entry in entries]}}


def read_logprobs(content: Raw, where: str) -> Logprobs:
    """No log-probabilities if the value is not an object."""
    is_object = bytes(memoryview(content)[:1]) == b"{"
    return read_parts(content, LOGPROBS, where) if is_object else Logprobs()


def read_token_ids(content: Raw) -> list[int] | None:
    """None if the value is not a list of numbers. The tokens are then looked up by their bytes."""
    try:
        return TOKEN_IDS.decode(content) if is_given(content) else None
    except DecodeError:
        return None


def present_entry(entry: Entry) -> dict:
    is_short = 0 < memoryview(entry.bytes).nbytes <= MAX_BYTES_LENGTH
    return {"logprob": entry.logprob, "token": entry.token, "bytes": decode(entry.bytes) if is_short else None}

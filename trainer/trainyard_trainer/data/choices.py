"""Choices of a payload. Training reads the message, and what was sampled: token ids, log-probabilities and the prompt's
ids."""

from collections.abc import Sequence

import numpy as np
from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, decode
from numpy.typing import NDArray

from trainyard_trainer.data.masks import MARKS
from trainyard_trainer.data.parts import ABSENT, Values, is_given, read_parts
from trainyard_trainer.failures import InvalidInput

# A token's bytes as JSON. A longer list cannot be a token.
MAX_BYTES_LENGTH = 4096
# The ids of one prompt as JSON: about a million tokens, which take 40 MB while they are read.
MAX_PROMPT_BYTES = 8 * 1024 * 1024
TRUNCATED = "length"
ID_PREFIX = "token_id:"
Ids = NDArray[np.int64]


class Entry(Struct, gc=False):
    """A sampled token. `top_logprobs`, the largest part of many payloads, are skipped."""

    logprob: float
    token: str | None = None
    bytes: Raw = ABSENT


class Logprobs(Struct):
    content: list[Entry] | None = None
    refusal: list[Entry] | None = None


class ChoiceParts(Struct):
    finish_reason: Raw = ABSENT
    message: Raw = ABSENT
    logprobs: Raw = ABSENT
    token_ids: Raw = ABSENT
    prompt_token_ids: Raw = ABSENT
    sampling: Raw = ABSENT
    compact_logprobs: Raw = ABSENT
    art_completion_logprobs: Raw = ABSENT
    weight: Raw = ABSENT
    trainable: Raw = ABSENT
    train: Raw = ABSENT


class Kind(Struct):
    finish_reason: Raw = ABSENT
    message: Raw = ABSENT


CHOICE, KIND = Decoder(ChoiceParts), Decoder(Kind)
LOGPROBS, TOKEN_IDS, NUMBERS = Decoder(Logprobs), Decoder(list[int]), Decoder(list[float])


class Sampled(Struct, frozen=True):
    """What a model sampled: n tokens with their log-probabilities, of which there are none if the reply had none.

    `token_ids` are None if the reply does not have them; `tokens` then describes the n tokens otherwise. `prompt` has
    the ids of the prompt, as bytes, because the prompts of a long conversation together take much memory. `sampling`
    has the settings of the sampler that differ from plain sampling. `captured` is the path of the exchange that it was
    captured in; such replies must be complete.
    """

    logprobs: Sequence[float]
    token_ids: list[int] | None
    tokens: Sequence[dict] = ()
    prompt: Raw = ABSENT
    is_truncated: bool = False
    sampling: dict[str, object] = {}
    captured: str | None = None

    def read_prompt(self, where: str) -> Ids | None:
        """The ids of the prompt [P]. None if they are not known."""
        if not is_given(self.prompt):
            return None
        if memoryview(self.prompt).nbytes > MAX_PROMPT_BYTES:
            raise InvalidInput(f"{where}.prompt_token_ids has more than {MAX_PROMPT_BYTES} bytes.")
        ids = read_token_ids(self.prompt)
        return np.asarray(ids, np.int64) if ids else None


def is_sampled(content: Raw, where: str) -> bool:
    """A Choice was sampled from a model. Any other item is a plain message."""
    kind = read_parts(content, KIND, where)
    return is_given(kind.finish_reason) and is_given(kind.message)


def read_choice(content: Raw, values: Values, where: str) -> dict:
    """The message of a Choice, what was sampled, and the marks that say whether it is trained."""
    parts = read_parts(content, CHOICE, where)
    message = values.read(parts.message, f"{where}.message")
    marks = {name: values.read(getattr(parts, name), f"{where}.{name}") for name in MARKS}
    return marks | {"finish_reason": None, "message": message, "sampled": read_sampled(parts, values, where)}


def read_sampled(parts: ChoiceParts, values: Values, where: str, *, prompt: Raw = ABSENT) -> Sampled:
    """`prompt` has the ids of the whole reply's prompt, for a Choice without its own."""
    token_ids = read_token_ids(parts.token_ids)
    logprobs, entries = read_all_logprobs(parts, where)
    values.count_sampled(max(len(logprobs), len(token_ids or ())))
    is_known = token_ids is not None and len(token_ids) == len(logprobs or token_ids) and agree(entries, token_ids)
    sampling = values.read(parts.sampling, f"{where}.sampling")
    return Sampled(
        logprobs,
        token_ids if is_known else None,
        () if is_known else [present_entry(entry) for entry in entries],
        parts.prompt_token_ids if read_start(parts.prompt_token_ids) == b"[" else prompt,
        bytes(parts.finish_reason) == f'"{TRUNCATED}"'.encode(),
        sampling if isinstance(sampling, dict) else {},
    )


def agree(entries: Sequence[Entry], token_ids: list[int]) -> bool:
    """Whether the ids are those that the log-probabilities name, where they name any."""
    named = zip((parse_token_id(entry.token) for entry in entries), token_ids, strict=False)
    return all(said is None or said == given for said, given in named)


def read_all_logprobs(parts: ChoiceParts, where: str) -> tuple[Sequence[float], Sequence[Entry]]:
    """The compact list that some servers send, or the entries with their log-probabilities."""
    for compact in (parts.compact_logprobs, parts.art_completion_logprobs):
        if read_start(compact) == b"[":
            return read_parts(compact, NUMBERS, f"{where}.compact_logprobs"), ()
    found = read_logprobs(parts.logprobs, f"{where}.logprobs")
    entries = found.content or found.refusal or []
    return [entry.logprob for entry in entries], entries


def read_logprobs(content: Raw, where: str) -> Logprobs:
    """No log-probabilities if the value is not an object."""
    return read_parts(content, LOGPROBS, where) if read_start(content) == b"{" else Logprobs()


def parse_token_id(token: object) -> int | None:
    """The id of a token that a server wrote as `token_id:N`."""
    number = token.removeprefix(ID_PREFIX) if isinstance(token, str) and token.startswith(ID_PREFIX) else ""
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 10 else None


def read_start(content: Raw) -> bytes:
    return bytes(memoryview(content)[:1])


def read_token_ids(content: Raw) -> list[int] | None:
    """None if the value is not a list of numbers. The tokens are then looked up by their bytes."""
    try:
        return TOKEN_IDS.decode(content) if is_given(content) else None
    except DecodeError:
        return None


def present_entry(entry: Entry) -> dict:
    is_short = 0 < memoryview(entry.bytes).nbytes <= MAX_BYTES_LENGTH
    return {"token": entry.token, "bytes": decode(entry.bytes) if is_short else None}

"""Reads JSON of which only some members are needed. The rest is skipped and takes no memory.

`msgspec` skips members that a structure does not name, and returns `Raw` members as views of their bytes.
"""

import re
from typing import TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError
from msgspec.json import Decoder

from trainyard_trainer.data.json_input import as_invalid_input, parse_json
from trainyard_trainer.failures import InvalidInput

Parts = TypeVar("Parts")
ABSENT = Raw()
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The limit for the messages and tools of one trajectory or line. A long conversation has some thousands, and this many
# take 50 MB.
MAX_VALUES = 200_000
# The limit for one trajectory: more than any trained sequence. This many take 100 MB.
MAX_SAMPLED = 500_000
MISFIT = re.compile(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `\$([^`]*)`)?")
KINDS = {"object": "an object", "array": "a list", "str": "text", "int": "a whole number", "float": "a number"}
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def read_parts(content: Raw | memoryview, decoder: Decoder[Parts], where: str) -> Parts:
    """Reads the members that the decoder's structure names. Raises InvalidInput."""
    try:
        return decoder.decode(content)
    except ValidationError as cause:
        raise InvalidInput(describe_misfit(str(cause), where)) from cause
    except DecodeError as cause:
        raise InvalidInput(f"{where} is not JSON, or contains an unpaired surrogate: {cause}.") from cause
    except RecursionError as cause:
        raise InvalidInput(f"{where} is nested too deeply.") from cause


def describe_misfit(reason: str, where: str) -> str:
    """Turns msgspec's message about a wrong type into the words of JSON's users."""
    misfit = MISFIT.fullmatch(reason)
    if not misfit:
        return f"{where} is invalid: {reason}."
    wanted, given, path = misfit.groups(default="")
    kinds = " or ".join(KINDS.get(kind, kind) for kind in wanted.split(" | "))
    return f"{where}{path} must be {kinds}, not {KINDS.get(given, given)}."


def skip_byte_order_mark(content: bytes) -> memoryview:
    return memoryview(content)[len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0 :]


def is_given(part: Raw) -> bool:
    return memoryview(part).nbytes > 0


class Values(Struct):
    """Reads parts as values, up to a limit. A value of a few bytes takes about a hundred bytes of memory."""

    where: str
    left: int = MAX_VALUES
    sampled_left: int = MAX_SAMPLED

    def read(self, part: Raw, where: str) -> object:
        """None if the part is absent."""
        if not is_given(part):
            return None
        content = bytes(part)
        self.left -= self.count(content)
        if self.left < 0:
            raise InvalidInput(
                f"{self.where} has more than {MAX_VALUES} values in its messages and tools (objects, lists and "
                "their elements). Send data that training does not read as metadata or as text."
            )
        with as_invalid_input(where):
            return parse_json(content.decode(), where)

    def count_sampled(self, number: int) -> None:
        self.sampled_left -= number
        if self.sampled_left < 0:
            raise InvalidInput(f"{self.where} has more than {MAX_SAMPLED} sampled tokens, the limit of a trajectory.")

    def count(self, content: bytes) -> int:
        """Counts objects, lists and commas, without those inside texts. The search is skipped if the result cannot
        matter."""
        found = count_signs(content)
        return found if found <= self.left else count_signs(TEXT.sub(b"", content))


def count_signs(content: bytes) -> int:
    return content.count(b"{") + content.count(b"[") + content.count(b",")

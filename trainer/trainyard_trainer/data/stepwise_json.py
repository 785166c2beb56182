"""JSON of hundreds of megabytes, parsed piece by piece: in one piece, heartbeats and the news of a cancelled job would
wait for seconds, because Python's parser lets no other thread run."""

import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trainyard_trainer.data.json_input import refuse_constant

SPACE = re.compile(r"[ \t\n\r]*")


def parse_stepwise(content: bytes, depth: int, check: Callable[[], None]) -> object:
    """As json.loads does, but calls `check` before each value that lies `depth` levels deep. Raises ValueError."""
    reader = StepwiseReader(content.decode(), check)
    with no_collection():
        value, end = reader.read(reader.skip_space(0), depth)
    if (end := reader.skip_space(end)) != len(reader.text):
        raise reader.complain("Extra data", end)
    return value


@contextmanager
def no_collection() -> Iterator[None]:
    """The garbage collector looks again and again at all that is there, while nothing of it can be garbage yet."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class StepwiseReader:
    """Its methods take the place where something begins, and give it with the place behind it."""

    def __init__(self, text: str, check: Callable[[], None]) -> None:
        self.text = text
        self.check = check
        self.decoder = json.JSONDecoder(parse_constant=refuse_constant)

    def read(self, place: int, depth: int) -> tuple[object, int]:
        start = self.text[place : place + 1] if depth else ""
        if start == "{":
            return self.read_members(place, depth)
        if start == "[":
            return self.read_items(place, depth)
        self.check()
        return self.decoder.raw_decode(self.text, place)

    def read_members(self, place: int, depth: int) -> tuple[dict, int]:
        members: dict = {}
        place = self.skip_space(place + 1)
        while not self.is_at(place, "}"):
            if not self.is_at(place, '"'):
                raise self.complain("Expecting property name enclosed in double quotes", place)
            name, place = self.decoder.raw_decode(self.text, place)
            place = self.skip_space(place)
            if not self.is_at(place, ":"):
                raise self.complain("Expecting ':' delimiter", place)
            members[name], place = self.read(self.skip_space(place + 1), depth - 1)
            place = self.skip_comma(place, "}")
        return members, place + 1

    def read_items(self, place: int, depth: int) -> tuple[list, int]:
        items: list = []
        place = self.skip_space(place + 1)
        while not self.is_at(place, "]"):
            item, place = self.read(place, depth - 1)
            items.append(item)
            place = self.skip_comma(place, "]")
        return items, place + 1

    def skip_comma(self, place: int, end: str) -> int:
        """The place of the next member or item, or of the end."""
        place = self.skip_space(place)
        if self.is_at(place, end):
            return place
        if not self.is_at(place, ","):
            raise self.complain("Expecting ',' delimiter", place)
        place = self.skip_space(place + 1)
        if self.is_at(place, end):
            raise self.complain("Illegal trailing comma before the end", place)
        return place

    def skip_space(self, place: int) -> int:
        space = SPACE.match(self.text, place)
        return space.end() if space else place

    def is_at(self, place: int, character: str) -> bool:
        return self.text.startswith(character, place)

    def complain(self, message: str, place: int) -> json.JSONDecodeError:
        return json.JSONDecodeError(message, self.text, place)

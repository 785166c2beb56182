"""The messages of captured requests. The ids of a prompt do not say what an image in it was."""

from collections.abc import Iterator, Mapping

from msgspec import Raw, Struct
from msgspec.json import Decoder, decode

from trainyard_trainer.data.choices import read_start
from trainyard_trainer.data.json_input import reject_media
from trainyard_trainer.data.parts import ABSENT, read_parts

LIST, MEMBERS = Decoder(list[Raw]), Decoder(dict[str, Raw])
# The members of a message that can be lists of parts.
PARTS = ("content", "output")
# A message has parts, and the result of a tool among them can have parts too.
DEPTH = 2


class PromptParts(Struct):
    messages: Raw = ABSENT
    input: Raw = ABSENT


def require_text(prompt: PromptParts | None, where: str) -> None:
    """Raises InvalidInput for an image, a sound, a video or a file, with its place."""
    for name in ("messages", "input") if prompt else ():
        path = f"{where}.{name}"
        for index, message in list_objects(getattr(prompt, name), path):
            check_parts(message, f"{path}[{index}]", DEPTH)


def check_parts(item: Mapping[str, object], where: str, depth: int) -> None:
    for name in PARTS if depth else ():
        path = f"{where}.{name}"
        for index, part in list_objects(item.get(name), path):
            reject_media(part, path)
            check_parts(part, f"{path}[{index}]", depth - 1)


def list_objects(content: object, where: str) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a list, with their indices. Only their types and texts are read as values."""
    if not isinstance(content, Raw) or read_start(content) != b"[":
        return
    for index, item in enumerate(read_parts(content, LIST, where)):
        if read_start(item) == b"{":
            members: dict[str, object] = dict(read_parts(item, MEMBERS, f"{where}[{index}]"))
            yield index, members | {name: read_text(members.get(name)) for name in ("type", "text")}


def read_text(member: object) -> object:
    """A member that is text or null as a value. Anything else stays as bytes."""
    return decode(member) if isinstance(member, Raw) and read_start(member) in (b'"', b"n") else member

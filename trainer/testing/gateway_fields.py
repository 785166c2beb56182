"""What the gateway says of the members of requests, read from its TypeScript."""

import re
from pathlib import Path

GATEWAY = Path(__file__).parents[2] / "apiserver" / "inference"


def read_fields(file: str, name: str) -> set[str]:
    """The members that a table of a file names, with those that chats and completions share."""
    table = (GATEWAY / file).read_text().split(f"export const {name}: Fields = {{", 1)[1].split("\n}", 1)[0]
    shared = read_fields("chat/chat-fields.ts", "samplingFields") if "  ...samplingFields," in table else set()
    return shared | set(re.findall(r"^  (\w+): ", table, re.MULTILINE))

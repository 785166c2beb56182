"""The data of an SFT job: a conversation in each line of a JSONL file, as tokens with the assistant's turns marked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from msgspec import Raw, Struct
from msgspec.json import Decoder
from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import require_messages, require_tools
from trainyard_trainer.data.parts import ABSENT, BYTE_ORDER_MARK, Values, read_parts
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.assistant_spans import Conversation, find_assistant_spans
from trainyard_trainer.tokens.rendering import encode, present_message

# The same limit as for one trajectory.
MAX_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Row:
    """The tokens of a line, and which of them are trained."""

    ids: list[int]
    trained: list[bool]

    @property
    def num_trained(self) -> int:
        return sum(self.trained)


class LineParts(Struct):
    messages: Raw = ABSENT
    tools: Raw = ABSENT


LINE = Decoder(LineParts)


def read_rows(file: BinaryIO, tokenizer: PreTrainedTokenizerBase, check: Callable[[], None]) -> Iterator[Row]:
    """Yields the rows in order, one at a time, without blank lines. InvalidInput names the line of an error, or says at
    the end that there was nothing to train on."""
    num_rows = num_trained = 0
    for number, line in enumerate(read_lines(file), start=1):
        check()
        if line.strip():
            row = read_row(line.removesuffix(b"\n"), f"Line {number}", tokenizer, check)
            num_rows, num_trained = num_rows + 1, num_trained + row.num_trained
            yield row
    if not num_rows:
        raise InvalidInput("The training data is empty: it has no line with a conversation.", "EmptyDataset")
    if not num_trained:
        message = "The training data has no assistant message, so there is nothing to train on."
        raise InvalidInput(message, "NothingToLearn")


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Only one line is in memory. A line that is too long is read only as far as needed to detect that."""
    max_bytes = MAX_LINE_BYTES + 8  # with a byte order mark before it and a line end after it
    yield file.readline(max_bytes).removeprefix(BYTE_ORDER_MARK)
    while line := file.readline(max_bytes):
        yield line


def read_row(line: bytes, where: str, tokenizer: PreTrainedTokenizerBase, check: Callable[[], None]) -> Row:
    messages, tools = parse_line(line, where)
    try:
        return tokenize_row(Conversation(messages, tools, tokenizer, check))
    except InvalidInput as cause:
        raise InvalidInput(f"{where}: {cause.message}", cause.reason) from cause


def parse_line(line: bytes, where: str) -> tuple[list[dict], list[dict] | None]:
    """Other members of the line are skipped."""
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"{where} has more than {MAX_LINE_BYTES} bytes, the limit of a line.")
    require_utf8(line, where)
    parts, values = read_parts(memoryview(line), LINE, where), Values(where)
    found = values.read(parts.messages, f"{where}, messages")
    if not found:
        raise InvalidInput(f"{where} has no messages.")
    messages = require_messages(found, f"{where}, messages")
    tools = require_tools(values.read(parts.tools, f"{where}, tools"), f"{where}, tools")
    return [present_message(item) for item in messages], tools


def require_utf8(line: bytes, where: str) -> None:
    try:
        line.decode()
    except UnicodeDecodeError as cause:
        raise InvalidInput(f"{where} is not UTF-8: byte {cause.start + 1} is not valid UTF-8.") from cause


def tokenize_row(conversation: Conversation) -> Row:
    """A token is trained if it begins within an assistant turn."""
    is_trained = bytearray(len(conversation.text))
    for span in find_assistant_spans(conversation):
        is_trained[span.start : span.stop] = b"\1" * len(span)
    tokens = encode(conversation.text, conversation.tokenizer, return_offsets_mapping=True)
    trained = [start < end and is_trained[start] == 1 for start, end in tokens["offset_mapping"]]
    trained[:1] = [False]  # the first token has no predecessor that predicts it
    return Row(tokens["input_ids"], trained)

"""The data of an SFT job: a conversation in each line of a JSONL file, as tokens with the assistant's turns marked."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from msgspec import Raw, Struct
from msgspec.json import Decoder
from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import get_message, require_functions, require_messages, require_tools
from trainyard_trainer.data.masks import is_masked
from trainyard_trainer.data.parts import ABSENT, BYTE_ORDER_MARK, Values, read_parts
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.last_answer import split_last_answer
from trainyard_trainer.sft.row_members import drops_reasoning, find_unread, find_unread_parts
from trainyard_trainer.tokens.assistant_spans import Conversation, find_assistant_spans
from trainyard_trainer.tokens.messages import present_row_message
from trainyard_trainer.tokens.rendering import encode

# The same limit as for one trajectory.
MAX_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Row:
    """The tokens of a line, and which of them are trained. `unread` are the members that nobody reads."""

    ids: list[int]
    trained: list[bool]
    line: int = 0
    drops_reasoning: bool = False
    unread: Collection[str] = ()

    @property
    def num_trained(self) -> int:
        return sum(self.trained)


@dataclass(frozen=True)
class Reading:
    """How rows are read. With `only_last`, only the last message is trained, which must be the assistant's. `check` may
    raise to end the work."""

    tokenizer: PreTrainedTokenizerBase
    check: Callable[[], None] = lambda: None
    only_last: bool = False


@dataclass(frozen=True)
class Line:
    """The messages and tools of a line as they were given, the indices of messages that are not trained, and members
    that nobody reads."""

    messages: list[dict]
    tools: list[dict] | None
    masked: Collection[int]
    unread: Collection[str]


class LineParts(Struct):
    messages: Raw = ABSENT
    tools: Raw = ABSENT
    functions: Raw = ABSENT


LINE, MEMBERS = Decoder(LineParts), Decoder(dict[str, Raw])
# Clients write these with the tools of a chat. They do not change what is trained.
HARMLESS = {"parallel_tool_calls"}


def read_rows(file: BinaryIO, reading: Reading) -> Iterator[Row]:
    """Yields the rows in order, one at a time, without blank lines. InvalidInput names the line of an error, or says at
    the end that there was nothing to train on."""
    num_rows = num_trained = 0
    for number, line in enumerate(read_lines(file), start=1):
        reading.check()
        if line.strip():
            row = read_row(line.removesuffix(b"\n"), number, reading)
            num_rows, num_trained = num_rows + 1, num_trained + row.num_trained
            yield row
    if not num_rows:
        raise InvalidInput("The training data is empty: it has no line with a conversation.", "EmptyDataset")
    if not num_trained:
        message = "The training data has no assistant message that is trained, so there is nothing to train on."
        raise InvalidInput(message, "NothingToLearn")


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Only one line is in memory. A line that is too long is read only as far as needed to detect that."""
    max_bytes = MAX_LINE_BYTES + 8  # with a byte order mark before it and a line end after it
    yield file.readline(max_bytes).removeprefix(BYTE_ORDER_MARK)
    while line := file.readline(max_bytes):
        yield line


def read_row(content: bytes, number: int, reading: Reading) -> Row:
    where = f"Line {number}"
    line = parse_line(content, where)
    presented = [present_row_message(message) for message in line.messages]
    conversation = Conversation(presented, line.tools, reading.tokenizer, reading.check)
    try:
        ids, trained = tokenize_row(conversation, line.masked, only_last=reading.only_last)
        unread = {*line.unread, *(f"messages.{name}" for name in find_unread(line.messages, conversation))}
        return Row(ids, trained, number, drops_reasoning(line.messages, conversation), unread)
    except InvalidInput as cause:
        raise InvalidInput(f"{where}: {cause.message}", cause.reason) from cause


def parse_line(content: bytes, where: str) -> Line:
    if len(content) > MAX_LINE_BYTES:
        raise InvalidInput(f"{where} has more than {MAX_LINE_BYTES} bytes, the limit of a line.")
    require_utf8(content, where)
    parts, values = read_parts(memoryview(content), LINE, where), Values(where)
    found = values.read(parts.messages, f"{where}, messages")
    if not found:
        raise InvalidInput(f"{where} has no messages.")
    items = require_messages(found, f"{where}, messages")
    masked = {index for index, item in enumerate(items) if is_masked(item, f"{where}, messages[{index}]")}
    unread = {f"messages.content.{kind}" for item in items for kind in find_unread_parts(item)}
    tools = read_tools(parts, values, where)
    # A Choice is trained as its message. Only a Choice may omit its role.
    messages = [
        message if message.get("role") else message | {"role": "assistant"} for message in map(get_message, items)
    ]
    return Line(messages, tools, masked, unread | list_unread(content, where))


def read_tools(parts: LineParts, values: Values, where: str) -> list[dict] | None:
    tools = require_tools(values.read(parts.tools, f"{where}, tools"), f"{where}, tools")
    functions = require_functions(values.read(parts.functions, f"{where}, functions"), f"{where}, functions")
    if tools and functions:
        raise InvalidInput(f"{where} has both tools and functions. Send only tools.")
    return tools or functions


def list_unread(content: bytes, where: str) -> set[str]:
    """The members of the line that nobody reads. Empty ones say nothing."""
    members = read_parts(memoryview(content), MEMBERS, where)
    read = {*LineParts.__struct_fields__, *HARMLESS}
    return {name for name, value in members.items() if name not in read and not is_empty(memoryview(value))}


def is_empty(value: memoryview) -> bool:
    return value.nbytes <= 4 and bytes(value) in (b"null", b"[]", b"{}", b'""')


def require_utf8(line: bytes, where: str) -> None:
    try:
        line.decode()
    except UnicodeDecodeError as cause:
        raise InvalidInput(f"{where} is not UTF-8: byte {cause.start + 1} is not valid UTF-8.") from cause


def tokenize_row(
    conversation: Conversation, masked: Collection[int] = (), *, only_last: bool = False
) -> tuple[list[int], list[bool]]:
    """The ids of the conversation, and which of them are trained: those of the assistant's messages, or of the last."""
    ids, trained = tokenize_last(conversation, masked) if only_last else tokenize_all(conversation, masked)
    trained[:1] = [False]  # the first token has no predecessor that predicts it
    return ids, trained


def tokenize_last(conversation: Conversation, masked: Collection[int]) -> tuple[list[int], list[bool]]:
    prompt, answer = (encode(text, conversation.tokenizer)["input_ids"] for text in split_last_answer(conversation))
    is_trained = len(conversation.messages) - 1 not in masked
    return prompt + answer, [False] * len(prompt) + [is_trained] * len(answer)


def tokenize_all(conversation: Conversation, masked: Collection[int]) -> tuple[list[int], list[bool]]:
    """A token is trained if it begins within an assistant's message."""
    is_trained = bytearray(len(conversation.text))
    for index, span in find_assistant_spans(conversation).items():
        if index not in masked:
            is_trained[span.start : span.stop] = b"\1" * len(span)
    tokens = encode(conversation.text, conversation.tokenizer, return_offsets_mapping=True)
    return tokens["input_ids"], [start < end and is_trained[start] == 1 for start, end in tokens["offset_mapping"]]

"""The data of an SFT job: one conversation per line of a JSONL file, as tokens with the assistant's turns marked."""

from collections.abc import Callable
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import parse_json, require_messages, require_object, require_tools
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.rendering import encode, present_message
from trainyard_trainer.tokens.turns import Conversation, find_turns


@dataclass(frozen=True)
class Row:
    """One line's tokens, and which of them are trained on."""

    ids: list[int]
    trained: list[bool]

    @property
    def num_trained(self) -> int:
        return sum(self.trained)


def read_rows(content: bytes, tokenizer: PreTrainedTokenizerBase, check: Callable[[], None]) -> list[Row]:
    """The rows in the order of their lines, blank ones left out; InvalidInput names the line of what is wrong."""
    rows: list[Row] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        check()
        if line.strip():
            rows.append(read_row(line, f"Line {number}", tokenizer, check))
    if not rows:
        raise InvalidInput("The training data is empty: it has no line with a conversation.", "EmptyDataset")
    if not any(row.num_trained for row in rows):
        message = "The training data has no assistant message in any line, so that there is nothing to learn."
        raise InvalidInput(message, "NothingToLearn")
    return rows


def read_row(line: bytes, where: str, tokenizer: PreTrainedTokenizerBase, check: Callable[[], None]) -> Row:
    messages, tools = parse_line(line, where)
    try:
        return tokenize_row(Conversation(messages, tools, tokenizer, check))
    except InvalidInput as cause:
        raise InvalidInput(f"{where}: {cause.message}", cause.reason) from cause


def parse_line(line: bytes, where: str) -> tuple[list[dict], list[dict] | None]:
    try:
        text = line.decode()
    except UnicodeDecodeError as cause:
        raise InvalidInput(f"{where} is not UTF-8: byte {cause.start + 1} of it belongs to no character.") from cause
    fields = require_object(parse_json(text, where), where)
    if not fields.get("messages"):
        raise InvalidInput(f"{where} has no messages.")
    messages = require_messages(fields["messages"], f"{where}, messages")
    return [present_message(item) for item in messages], require_tools(fields.get("tools"), f"{where}, tools")


def tokenize_row(conversation: Conversation) -> Row:
    """A token is trained on when it begins within an assistant turn."""
    is_trained = bytearray(len(conversation.text))
    for turn in find_turns(conversation):
        is_trained[turn.start : turn.stop] = b"\1" * len(turn)
    tokens = encode(conversation.text, conversation.tokenizer, return_offsets_mapping=True)
    trained = [start < end and is_trained[start] == 1 for start, end in tokens["offset_mapping"]]
    trained[:1] = [False]  # nothing comes before the first token, so nothing predicts it
    return Row(tokens["input_ids"], trained)

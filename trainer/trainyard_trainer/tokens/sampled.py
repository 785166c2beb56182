"""The ids and log-probabilities that a Choice was sampled with, read from whatever the client kept of it."""

from functools import lru_cache
from itertools import chain
from typing import cast

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.json_input import is_number
from trainyard_trainer.failures import InvalidInput

ID_PREFIX = "token_id:"


def read_logprobs(choice: dict, where: str) -> list[dict]:
    """The entries of `logprobs.content`; empty when the Choice has none and is thus not trained on."""
    logprobs = choice.get("logprobs")
    entries = (logprobs.get("content") or logprobs.get("refusal") or []) if isinstance(logprobs, dict) else []
    if not isinstance(entries, list):
        raise InvalidInput(f"{where}.logprobs.content must be a list.")
    for entry in entries:
        if not isinstance(entry, dict) or not is_number(entry.get("logprob")):
            raise InvalidInput(f"{where}.logprobs.content: every entry needs a finite logprob.")
    return entries


def read_token_ids(choice: dict, entries: list[dict], tokenizer: PreTrainedTokenizerBase, where: str) -> list[int]:
    """Exactly the sampled ids: `token_ids`, else `token_id:N` tokens, else each token's bytes."""
    ids = choice.get("token_ids")
    if not (isinstance(ids, list) and len(ids) == len(entries)):
        ids = [find_token_id(entry, tokenizer) for entry in entries]
    size = len(tokenizer)
    if not all(isinstance(token, int) and 0 <= token < size for token in ids):
        raise InvalidInput(
            f"{where} does not tell which tokens were sampled. Sample it through this service, or with "
            "return_token_ids or return_tokens_as_token_ids, from the model that is trained.",
            "UnknownTokens",
        )
    return cast(list[int], ids)


def find_token_id(entry: dict, tokenizer: PreTrainedTokenizerBase) -> int | None:
    token = entry.get("token")
    if isinstance(token, str) and token.startswith(ID_PREFIX):
        number = token.removeprefix(ID_PREFIX)
        return int(number) if number.isdecimal() and len(number) < 10 else None
    content = entry.get("bytes")
    try:
        if content is None and isinstance(token, str):
            content = list(token.encode())
        return map_bytes(tokenizer).get(bytes(content)) if isinstance(content, list) else None
    except (TypeError, ValueError):
        return None


@lru_cache(maxsize=1)
def map_bytes(tokenizer: PreTrainedTokenizerBase) -> dict[bytes, int]:
    """From the bytes that each id of a byte-level vocabulary stands for to the lowest such id."""
    alphabet = invert_byte_alphabet()
    special = {str(token) for token in tokenizer.added_tokens_decoder.values()}
    found: dict[bytes, int] = {}
    for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: -item[1]):
        if token in special:
            found[token.encode()] = number
        elif all(character in alphabet for character in token):
            found[bytes(alphabet[character] for character in token)] = number
    return found


def invert_byte_alphabet() -> dict[str, int]:
    """Byte-level BPE writes printable Latin-1 bytes as themselves, and the rest as the characters from U+0100 on."""
    printable = set(chain(range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100)))
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}

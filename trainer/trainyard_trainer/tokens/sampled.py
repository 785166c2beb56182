"""The ids and log-probabilities of a sampled Choice, from whatever form the client kept."""

import re
from functools import lru_cache, partial
from itertools import chain

import numpy as np
from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.choices import ID_PREFIX, Ids, Sampled, parse_token_id
from trainyard_trainer.tokens.rendering import decode

UNKNOWN_PART = "\ufffd".encode()
BYTE = re.compile("<0x[0-9A-F]{2}>")
# No token of a vocabulary is as long. Lookups are cached for all jobs.
MAX_TOKEN_BYTES = 512


def has_logprobs(choice: dict) -> bool:
    """Whether it was sampled with log-probabilities, of any value."""
    return bool(choice["sampled"].logprobs)


def find_token_ids(sampled: Sampled, tokenizer: PreTrainedTokenizerBase) -> Ids | None:
    """Exactly the sampled ids: `token_ids`, else `token_id:N` tokens, else each token's bytes. None if one of them is
    uncertain."""
    ids = sampled.token_ids
    if ids is None:
        ids = [find_token_id(token, tokenizer) for token in sampled.tokens]
    return None if None in ids else require_known(np.asarray(ids, np.int64), tokenizer)


def require_known(ids: Ids, tokenizer: PreTrainedTokenizerBase) -> Ids | None:
    """None if the vocabulary lacks one of the ids, which would end the device's process."""
    return ids if len(ids) and ids.min() >= 0 and ids.max() < len(tokenizer) else None


def find_token_id(token: dict, tokenizer: PreTrainedTokenizerBase) -> int | None:
    text, content = token["token"], token["bytes"]
    if isinstance(text, str) and text.startswith(ID_PREFIX):
        return parse_token_id(text)
    try:
        if content is None and isinstance(text, str):
            content = list(text.encode())
        if not isinstance(content, list) or len(content) > MAX_TOKEN_BYTES:
            return None
        return look_up(bytes(content), tokenizer)
    except (TypeError, ValueError):
        return None


@lru_cache(maxsize=65536)
def look_up(content: bytes, tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The id that these bytes certainly come from. An engine writes part of a character as U+FFFD, and some engines
    omit the space before the first word. So several ids may be possible."""
    number = map_bytes(tokenizer).get(content)
    if number is None or UNKNOWN_PART in content:
        return None
    spaced = map_bytes(tokenizer).get(b" " + content)
    text = content.decode(errors="replace")
    if spaced is not None and decode([spaced], tokenizer) == text:
        return None
    shown = decode([number], tokenizer)
    return number if "\ufffd" in shown or shown in (text, text.removeprefix(" ")) else None


@lru_cache(maxsize=1)
def map_bytes(tokenizer: PreTrainedTokenizerBase) -> dict[bytes, int]:
    """Maps the bytes of each id to the lowest such id."""
    vocabulary, alphabet = tokenizer.get_vocab(), invert_byte_alphabet()
    # A byte-level vocabulary contains every byte. Other vocabularies are assumed to be SentencePiece's.
    spell = partial(spell_bytes, alphabet) if alphabet.keys() <= vocabulary.keys() else spell_pieces
    special = {str(token) for token in tokenizer.added_tokens_decoder.values()}
    found: dict[bytes, int] = {}
    for token, number in sorted(vocabulary.items(), key=lambda item: (is_byte(item[0]), item[1])):
        spelt = token.encode() if token in special else spell(token)
        if spelt is not None:
            found.setdefault(spelt, number)
    return found


def spell_bytes(alphabet: dict[str, int], token: str) -> bytes | None:
    return bytes(alphabet[character] for character in token) if alphabet.keys() >= set(token) else None


def spell_pieces(token: str) -> bytes:
    return bytes([int(token[3:5], 16)]) if is_byte(token) else token.replace("\u2581", " ").encode()


def is_byte(token: str) -> bool:
    """A byte of a character without a SentencePiece token: <0xE3>."""
    return BYTE.fullmatch(token) is not None


def invert_byte_alphabet() -> dict[str, int]:
    """Byte-level BPE writes printable Latin-1 bytes unchanged, and the others as characters from U+0100 on."""
    printable = set(chain(range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100)))
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}

"""Histories as rows of token ids: each sampled turn stands behind exactly the prompt that it was sampled from.

The ids of a prompt come with the reply of the engine. Where they are missing, the conversation before the turn is
rendered as the engine renders it. A turn whose prompt continues a row is appended to it. Any other turn begins a row of
its own, for example where the template drops the thoughts of earlier turns.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from trainyard_trainer.data.choices import Ids, Sampled
from trainyard_trainer.data.json_input import is_choice, is_number
from trainyard_trainer.data.masks import is_masked
from trainyard_trainer.data.payload import History
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.tokens.rendering import render_prompt
from trainyard_trainer.tokens.sampled import find_token_ids, require_known

# The limit for the prompts of one trajectory together. Each prompt repeats those before it.
MAX_PROMPT_TOKENS = 16_000_000
# The size of the digest of a row's beginning. Two different beginnings never have the same one.
DIGEST_BYTES = 16
# Settings of a sampler that are told. The engine's log-probabilities contain what others do, such as a grammar.
TOLD = ("temperature", "top_p", "top_k", "min_p")
Mask = NDArray[np.bool_]
Logprobs = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Turn:
    """A sampled turn: the ids of its prompt [P], its own ids [n] and their log-probabilities [n], NaN where unknown."""

    prompt: Ids
    ids: Ids
    logprobs: Logprobs


@dataclass(frozen=True, eq=False)
class Row:
    """T tokens: for each its id, whether it was sampled (and is trained), and its sampled log-probability or NaN."""

    ids: Ids
    trained: Mask
    logprobs: Logprobs

    @property
    def num_trained(self) -> int:
        return int(self.trained.sum())


@dataclass
class TurnReader:
    """Reads the sampled turns of a job's histories, and counts what it leaves out.

    Turns without log-probabilities are context, unless `without_logprobs`. With `mask_truncated`, answers that ended by
    their length are context. `check` is called before each turn, and may raise to end the work.
    """

    tokenizer: PreTrainedTokenizerBase
    without_logprobs: bool = False
    mask_truncated: bool = False
    check: Callable[[], None] = lambda: None
    num_turns: int = 0
    num_truncated: int = 0
    num_undecodable: int = 0
    samplings: Counter[str] = field(default_factory=Counter)

    def read(self, history: History, where: str) -> Iterator[Turn]:
        left = MAX_PROMPT_TOKENS
        for index, item in enumerate(history.messages_and_choices):
            self.check()
            if not is_choice(item):
                continue
            sampled: Sampled = item["sampled"]
            path = sampled.captured or f"{where}.messages_and_choices[{index}]"
            ids = None if is_masked(item, path) else self.choose_ids(sampled, path)
            if ids is None:
                continue
            prompt = sampled.read_prompt(path)
            if prompt is None:
                prompt = self.render_prompt(history, index)
            elif require_known(prompt, self.tokenizer) is None:
                raise InvalidInput(f"{path}.prompt_token_ids has ids that the base model lacks.", "UnknownTokens")
            left -= len(prompt)
            if left < 0:
                raise InvalidInput(f"The prompts of {where} have more than {MAX_PROMPT_TOKENS} tokens together.")
            self.count(sampled)
            known = sampled.logprobs or np.full(len(ids), np.nan)
            yield Turn(prompt, ids, np.asarray(known, np.float32))

    def choose_ids(self, sampled: Sampled, path: str) -> Ids | None:
        """The ids of a turn that is trained. None for a turn that is context."""
        if self.mask_truncated and sampled.is_truncated:
            self.num_truncated += 1
            return None
        if not sampled.logprobs and not self.without_logprobs:
            if sampled.captured:
                raise InvalidInput(f"{path} has no log-probabilities, so it cannot be trained.", "UnknownTokens")
            return None
        ids = find_token_ids(sampled, self.tokenizer)
        if ids is None and sampled.captured:
            raise InvalidInput(f"{path} has token ids that the base model lacks.", "UnknownTokens")
        self.num_undecodable += ids is None
        return ids

    def render_prompt(self, history: History, index: int) -> Ids:
        before = history.messages_and_choices[:index]
        return np.asarray(render_prompt(before, history.tools, self.tokenizer), np.int64)

    def count(self, sampled: Sampled) -> None:
        self.num_turns += 1
        self.samplings.update(
            f"{name} {value:g}" for name, value in sampled.sampling.items() if name in TOLD and is_number(value)
        )


def join_turns(turns: Iterable[Turn], max_length: int) -> list[Row]:
    """The rows of a trajectory's turns, in order. Each turn extends the longest row that its prompt begins with.

    A token is trained once: not where an earlier row has the same token behind the same beginning. Rows of more than
    `max_length` tokens are not trained, so they take nothing from later ones.
    """
    joined: list[list[Turn]] = []
    open_rows: dict[bytes, tuple[int, int]] = {}  # by the digest of a row's ids: its index, and its length
    for turn in turns:
        lengths = sorted({length for _, length in open_rows.values() if length <= len(turn.prompt)})
        found = None
        for length, digest in digest_beginnings(turn.prompt, lengths):
            if digest in open_rows:
                found = (digest, length)
        if found is None:
            index, skipped = len(joined), 0
            joined.append([])
        else:
            index, skipped = open_rows.pop(found[0])
        joined[index].append(Turn(turn.prompt[skipped:], turn.ids, turn.logprobs))
        whole = np.concatenate([turn.prompt, turn.ids])
        ((length, digest),) = digest_beginnings(whole, [len(whole)])
        # Of two equal rows, later turns extend the first.
        open_rows.setdefault(digest, (index, length))
    rows = [make_row(turns) for turns in joined]
    return rows if len(rows) < 2 else train_once(rows, max_length)


def digest_beginnings(ids: Ids, lengths: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """The digest of the first `length` ids, for each of the rising lengths."""
    hasher, start = blake2b(digest_size=DIGEST_BYTES), 0
    for length in lengths:
        hasher.update(ids[start:length].tobytes())
        start = length
        yield length, hasher.digest()


def make_row(turns: list[Turn]) -> Row:
    ids: list[Ids] = []
    trained: list[Mask] = []
    logprobs: list[Logprobs] = []
    for turn in turns:
        ids += [turn.prompt, turn.ids]
        trained += [np.zeros(len(turn.prompt), np.bool_), np.ones(len(turn.ids), np.bool_)]
        logprobs += [np.full(len(turn.prompt), np.nan, np.float32), turn.logprobs]
    return Row(np.concatenate(ids), np.concatenate(trained), np.concatenate(logprobs))


def train_once(rows: list[Row], max_length: int) -> list[Row]:
    """Without the training of tokens that an earlier row trains behind the same beginning."""
    seen: set[bytes] = set()
    found: list[Row] = []
    for row in rows:
        if len(row.ids) > max_length:
            found.append(row)
            continue
        ends = [position + 1 for position in np.flatnonzero(row.trained).tolist()]
        digests = [digest for _, digest in digest_beginnings(row.ids, ends)]
        trained = row.trained.copy()
        trained[np.flatnonzero(trained)] = [digest not in seen for digest in digests]
        seen.update(digests)
        found.append(Row(row.ids, trained, row.logprobs))
    return found

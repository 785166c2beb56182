"""Histories of a payload in tests, as the trainer reads them."""

import json
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.compute.model.adapter_files import read_adapter, read_shape
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.data.payload import History, parse_payload
from trainyard_trainer.tokens.history import Row, TurnReader, join_turns

MAX_LENGTH = 100_000
QUESTION = {"role": "user", "content": "Name a colour."}


def read_histories(trajectory: dict) -> list[History]:
    content = json.dumps({"trajectory_groups": [{"trajectories": [trajectory]}]}).encode()
    ((found,),) = [group.trajectories for group in parse_payload(content)]
    return found.read_histories()


def read_history(items: list[dict], tools: list[dict] | None = None) -> History:
    (history,) = read_histories({"messages_and_choices": items, "tools": tools})
    return history


def tokenize(
    items: list[dict], tokenizer: PreTrainedTokenizerBase, tools: list[dict] | None = None, **rules: bool
) -> list[Row]:
    """The rows of a history. `rules` are fields of TurnReader."""
    reader = TurnReader(tokenizer, **rules)
    return join_turns(reader.read(read_history(items, tools), "here"), MAX_LENGTH)


def score_choices(items: list[dict], scheduler: Scheduler, checkpoint: Path | None = None) -> list[dict]:
    """The same items, of which the Choices have the log-probabilities that the model gives them."""
    tokenizer = scheduler.executor.base.tokenizer
    scored: list[dict] = []
    for item in items:
        content = (item.get("logprobs") or {}).get("content")
        if content and tokenize([QUESTION, item], tokenizer):
            (row,) = tokenize([*scored, item], tokenizer)[-1:]
            found = score_row(row, scheduler, checkpoint)[-len(content) :]
            entries = [entry | {"logprob": value} for entry, value in zip(content, found, strict=True)]
            item = item | {"logprobs": {"content": entries}}
        scored.append(item)
    return scored


def score_row(row: Row, scheduler: Scheduler, checkpoint: Path | None = None) -> list[float]:
    """The log-probabilities of a row's trained tokens under a checkpoint, or under the base model."""
    executor = scheduler.executor

    def score() -> list[float]:
        slot = checkpoint and executor.open(read_shape(checkpoint), read_adapter(checkpoint, "RL"))
        (logprobs,) = executor.score(slot, [[make_example(row.ids, row.trained, 0)]], lambda: None)
        if slot:
            executor.close(slot)
        return logprobs.tolist()

    return scheduler.call(score)

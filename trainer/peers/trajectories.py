"""Random trajectory groups in the form that clients send, as input for two implementations."""

import json
from dataclasses import dataclass
from random import Random

from transformers import PreTrainedTokenizerBase

from trainyard_trainer.tokens.rendering import render_prompt

WORDS = "red blue owl garden, market. Harbor! 7 42 the\n a Überblick 🎈 {x} winter's sail".split(" ")
SEARCH = {"name": "search", "description": "Finds owls.", "parameters": {"type": "object", "properties": {}}}
TOOL = {"type": "function", "function": SEARCH}
# Means of these are exact in floating point, so that both sides find the same advantages to be zero.
REWARDS = [0.0, 0.25, 0.5, 1.0, -2.0]
# ART uses one of the highest ids to mark a sampled turn. These ids occur in no conversation.
NUM_MARKS = 24


@dataclass(frozen=True)
class Maker:
    """`tools` and `systems` say whether the template supports these. `end` is the token that ends an answer.
    `silent_choices` says whether some Choices have no log-probabilities."""

    random: Random
    tokenizer: PreTrainedTokenizerBase
    end: str
    tools: bool = True
    systems: bool = True
    silent_choices: bool = True

    def make_groups(self) -> list[dict]:
        return [self.make_group() for _ in range(self.random.randint(1, 4))]

    def make_group(self) -> dict:
        failed = [{"type": "ValueError", "message": "boom", "traceback": "..."}] * self.random.randint(0, 2)
        trajectories = [self.make_trajectory() for _ in range(self.random.randint(1, 4))]
        return {"trajectories": trajectories, "exceptions": failed, "metadata": {}, "metrics": {}, "logs": []}

    def make_trajectory(self) -> dict:
        return {
            **self.make_history(),
            "additional_histories": [self.make_history() for _ in range(self.random.choice([0, 0, 1, 2]))],
            "reward": self.random.choice(REWARDS),
            "metrics": {},
            "metadata": {},
            "logs": [],
        }

    def make_history(self) -> dict:
        items: list[dict] = []
        if self.systems and self.flip():
            items.append({"role": "system", "content": self.make_text()})
        for _ in range(self.random.randint(1, 4)):
            items += self.make_exchange()
        items.append({"role": "user", "content": self.make_text()})
        if self.flip(0.8):
            items.append(self.make_choice(self.make_text()))
        tools = [TOOL] if self.tools and self.flip() else None
        for index, item in enumerate(items):
            if "message" in item:
                item["prompt_token_ids"] = render_prompt(items[:index], tools, self.tokenizer)
        return {"messages_and_choices": items, "tools": tools}

    def make_exchange(self) -> list[dict]:
        """A question and its answer, which was sampled, or not sampled, or preceded by a tool call."""
        question = {"role": "user", "content": self.make_text()}
        kind = self.random.randrange(5)
        if kind == 0:
            return [question, {"role": "assistant", "content": self.make_text()}]
        if kind == 1 and self.silent_choices:
            return [question, self.make_choice(self.make_text()) | {"logprobs": None}]
        if kind == 2 and self.tools:
            return [question, *self.make_call(), self.make_choice(self.make_text())]
        return [question, self.make_choice(self.make_text())]

    def make_call(self) -> list[dict]:
        """A call that was not sampled, and its result."""
        call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "owl"}'}}
        message = {"role": "assistant", "content": self.random.choice(["", None]), "tool_calls": [call]}
        return [message, {"role": "tool", "tool_call_id": "c1", "content": self.make_text()}]

    def make_choice(self, text: str, *, split: bool = True) -> dict:
        """An answer whose tokens are the tokenizer's, or others, or cut off before its end."""
        ids = self.encode(text) if not split or self.flip() else [token for part in text for token in self.encode(part)]
        finished = self.flip(0.8)
        if finished:
            ids.append(self.tokenizer.convert_tokens_to_ids(self.end))
        return {
            "finish_reason": "stop" if finished else "length",
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": [self.describe(token) for token in ids], "refusal": None},
            "token_ids": ids,
        }

    def describe(self, token: int) -> dict:
        return {
            "token": f"token_id:{token}",
            "bytes": list(self.tokenizer.decode([token]).encode()),
            "logprob": self.random.choice([-self.random.random() * 5, 0.0, -9999.0]),
            "top_logprobs": [],
        }

    def encode(self, text: str) -> list[int]:
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        marks = range(self.tokenizer.vocab_size - NUM_MARKS, self.tokenizer.vocab_size)
        return [token for token in ids if token not in marks]

    def make_text(self) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(1, 8))).strip()

    def flip(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance


def write_payload(groups: list[dict]) -> bytes:
    return json.dumps({"trajectory_groups": groups}).encode()

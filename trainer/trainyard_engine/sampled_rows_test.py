"""What an engine samples under templates in the styles of public models, and what the trainer computes for it.

One engine serves all templates: each request brings its own, which no client of Trainyard can.
"""

import copy
import json

import numpy as np
import pytest

from testing.engines import Engine
from testing.styled_templates import FULL_STYLES, STYLES, read_template, save_styled_model
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.tokens.rendering import render_prompt

# Nats in float32.
MAX_MEAN_DIFFERENCE = 1e-3
NUM_TOKENS = 12
TOOLS = [
    {"type": "function", "function": {"name": "search", "description": "Finds.", "parameters": {"type": "object"}}}
]
CALL = {"id": "call00001", "type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
ASK, MORE = {"role": "user", "content": "Name a colour."}, {"role": "user", "content": "Another?"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call00001", "content": "Owls hoot."}
# These refuse results of tools.
WITHOUT_TOOLS = {"gemma", "full/gemma3"}


@pytest.fixture
def served(start_engine, tmp_path):
    """An engine, and the folder and the tokenizer of its model."""
    folder = tmp_path / "styled"
    tokenizer = save_styled_model(folder, [*STYLES, *FULL_STYLES])
    engine = start_engine(str(folder), "--trust-request-chat-template", TRAINYARD_MAX_MODEL_LEN="2048")
    engine.wait_until_ready()
    return engine, folder, tokenizer


def sample(engine: Engine, template: str, messages: list[dict], tools: list[dict] | None = None) -> dict:
    """A reply: the ids of its prompt, the sampled ids, their log-probabilities and its message."""
    body = {
        "model": "tiny",
        "messages": messages,
        "chat_template": template,
        "max_tokens": NUM_TOKENS,
        "seed": 1,
        "logprobs": True,
        "return_token_ids": True,
    }
    body |= {"tools": tools, "tool_choice": "none"} if tools else {}
    reply = json.loads(engine.send("POST", "/v1/chat/completions", body))
    (choice,) = reply["choices"]
    return {
        "messages": messages,
        "tools": tools,
        "prompt": reply["prompt_token_ids"],
        "ids": choice["token_ids"],
        "logprobs": [entry["logprob"] for entry in choice["logprobs"]["content"]],
        "answer": {"role": "assistant", "content": choice["message"]["content"] or "Red."},
    }


def converse(engine: Engine, style: str) -> list[dict]:
    """A first, a second and a third turn, and turns after a tool's result."""
    template, turns, messages = read_template(style), [], [ASK]
    for _ in range(3):
        turns.append(sample(engine, template, messages))
        messages = [*messages, turns[-1]["answer"], MORE]
    if style not in WITHOUT_TOOLS:
        turns.append(sample(engine, template, [ASK, CALLED, RESULT], TOOLS))
        turns.append(sample(engine, template, [ASK, CALLED, RESULT, turns[-1]["answer"], MORE], TOOLS))
    return turns


def test_rows_begin_with_the_engines_prompts_and_have_its_log_probabilities(served):
    engine, folder, tokenizer = served
    executor = Executor(load_base("styled", Source(str(folder))))
    differences = {}
    for style in [*STYLES, *FULL_STYLES]:
        dressed = copy.copy(tokenizer)
        dressed.chat_template = read_template(style)
        turns = converse(engine, style)
        for turn in turns:
            assert render_prompt(turn["messages"], turn["tools"], dressed) == turn["prompt"], style
        rows = [
            make_example(
                turn["prompt"] + turn["ids"], [False] * len(turn["prompt"]) + [True] * len(turn["ids"]), number
            )
            for number, turn in enumerate(turns)
        ]
        scored = np.concatenate(executor.score(None, [rows], lambda: None))
        reported = np.concatenate([turn["logprobs"] for turn in turns])
        differences[style] = float(np.abs(scored - reported).mean())
    assert {style: value for style, value in differences.items() if value >= MAX_MEAN_DIFFERENCE} == {}

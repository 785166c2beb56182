"""Fixtures of several tests: the tiny chat model, loaded once, and makers of trajectories."""

import os
from pathlib import Path

# Read when torch is imported. For models this small, threads mostly wait for each other, and with one thread, sums
# always have the same order. Started processes inherit it.
os.environ["OMP_NUM_THREADS"] = "1"
# The tests' own servers are on loopback, where no proxy of the machine leads. Started processes inherit it too.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

import pytest

from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.loading import Source, load_base

MODEL = Path(__file__).parent / "models" / "tiny-chat"

pytest_plugins = [
    "testing.stores",
    "testing.scheduled_runs",
    "testing.fake_status_server",
    "testing.jobs",
    "testing.trainer_processes",
    "testing.scripted_server",
    "testing.engines",
    "testing.model_hub",
    "testing.seeds",
    "testing.interruption",
    "testing.worker_jobs",
]


@pytest.fixture(scope="session")
def base() -> Base:
    return load_base("trainyard/tiny-chat", Source(str(MODEL)))


@pytest.fixture(scope="session")
def tokenizer(base: Base):
    return base.tokenizer


@pytest.fixture
def make_choice(tokenizer):
    """A Choice as the gateway returns it. `form` is the way in which it contains the sampled ids."""

    def make(text: str, logprob: float = -0.5, form: str = "token_ids") -> dict:
        ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
        entries = [describe_token(tokenizer, number, logprob, form) for number in ids]
        choice = {
            "finish_reason": "stop",
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": entries, "refusal": None},
        }
        return choice | {"token_ids": ids} if form == "token_ids" else choice

    return make


def describe_token(tokenizer, number: int, logprob: float, form: str) -> dict:
    text = tokenizer.decode([number])
    token = f"token_id:{number}" if form == "token_id" else text
    return {"token": token, "bytes": list(text.encode()), "logprob": logprob, "top_logprobs": []}

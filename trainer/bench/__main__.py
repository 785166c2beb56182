"""`python -m bench NAME` runs one contestant on one thread, so that both sides have the same; or `latency`."""

import json
import sys
from collections.abc import Callable

import torch

from bench.contestant import Round, serve_rounds
from bench.data import make_rl_steps, make_rows, make_sft_steps, make_tenants
from bench.latency import measure_latency
from bench.ours import Trainer, make_states
from trainyard_trainer.compute.scheduling.policy import DEFAULT_CPU_TOKENS, Policy
from trainyard_trainer.config import ANY
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.sft.recipe import SFT


def train_rows(*, packs: bool = True, pass_tokens: int = DEFAULT_CPU_TOKENS) -> Callable[[], Round]:
    trainer = Trainer(SFT, Policy(pass_tokens), packs=packs)
    steps = make_sft_steps(make_rows())
    (state,) = make_states(trainer.executor, 1)
    return lambda: trainer.train([state], [steps])


def train_samples() -> Callable[[], Round]:
    trainer = Trainer(RL, Policy(DEFAULT_CPU_TOKENS))
    steps = make_rl_steps()
    (state,) = make_states(trainer.executor, 1)
    return lambda: trainer.train([state], [steps])


def train_tenants(*, together: bool) -> Callable[[], Round]:
    trainer = Trainer(SFT, Policy(DEFAULT_CPU_TOKENS, ANY))
    tenants = make_tenants()
    states = make_states(trainer.executor, len(tenants))
    return lambda: trainer.train(states, tenants, together=together)


def train_by_trl_sft() -> Callable[[], Round]:
    from bench.trl_sft import prepare

    return prepare()


def train_by_trl_grpo() -> Callable[[], Round]:
    from bench.trl_grpo import prepare

    return prepare()


WHOLE_BATCH = 1 << 30
CONTESTANTS: dict[str, Callable[[], Callable[[], Round]]] = {
    "packed": train_rows,
    "padded": lambda: train_rows(packs=False, pass_tokens=WHOLE_BATCH),
    "trl_sft": train_by_trl_sft,
    "rl": train_samples,
    "trl_grpo": train_by_trl_grpo,
    "together": lambda: train_tenants(together=True),
    "serial": lambda: train_tenants(together=False),
}


def main(name: str) -> None:
    torch.set_num_threads(1)
    if name == "latency":
        output, sys.stdout = sys.stdout, sys.stderr  # the trainer logs to standard output
        print(json.dumps(measure_latency()), file=output)
    else:
        serve_rounds(CONTESTANTS[name])


if __name__ == "__main__":
    main(sys.argv[1])

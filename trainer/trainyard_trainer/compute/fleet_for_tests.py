"""Jobs that one process and several do alike. `python -m` of it, by torchrun, writes what came of them to a folder."""

import hashlib
import json
import pickle
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from trainyard_trainer.compute.crew import Crew
from trainyard_trainer.compute.example import make_example
from trainyard_trainer.compute.fleet import Leader, Member
from trainyard_trainer.compute.loading import Source, load_base
from trainyard_trainer.compute.logprobs import CHUNK_VALUES
from trainyard_trainer.compute.optimizer import RL, SFT
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.slots import Shape
from trainyard_trainer.compute.step import Step
from trainyard_trainer.compute.turns import Turns
from trainyard_trainer.compute.work import StepTaken, Work
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import JobFailure
from trainyard_trainer.jobs_for_tests import MODEL, Jobs
from trainyard_trainer.sft.objective import SftObjective

NAME = "trainyard/tiny-chat"
EVERYWHERE = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")
COLOURS = ["Red.", "Blue, of course.", "Teal.", "Green, like the grass of the hills.", "I do not know."]
QUESTIONS = ["Name a colour.", "What colour do you like best, and why do you like it?", "And?"]


def do_jobs(machine, root):
    """What is to be the same: the reports and weights of whole jobs, and of works that share the device."""
    with Turns(machine, Policy(96)) as turns:
        jobs = Jobs(root, turns)
        first = jobs.run("RL", write_groups(machine.base.tokenizer), {"learning_rate": 1e-3})
        config = {"learning_rate": 1e-3, "kl_penalty_coef": 0.3, "precalculate_logprobs": True}
        second = jobs.run("RL", write_groups(machine.base.tokenizer), config, start=first.checkpoint)
        taught = jobs.run("SFT", write_rows(), {"learning_rate": 1e-3, "batch_size": 3})
        found = {
            "RL": (first.steps, jobs.read_weights(first)),
            "RL with a reference": (second.steps, jobs.read_weights(second)),
            "SFT": (taught.steps, jobs.read_weights(taught)),
        }
    for co_batch in (OFF, ANY):
        for name, result in do_works(machine, Policy(64, co_batch)).items():
            found[f"{name}, joined: {co_batch}"] = result
    return found


def do_works(machine, policy):
    """Two models at once, of other ranks, one of them on the last layers only, with steps of one to five parts."""
    shapes = {"a": Shape(8, 16, EVERYWHERE), "b": Shape(4, 8, ("layers.1.mlp.down_proj", "layers.2.self_attn.q_proj"))}
    turns = Turns(machine, policy)
    works = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        slot = machine.open(shape, None)
        works[name] = Work(slot, RL if name == "a" else SFT, build_steps(seed), "", lambda: None, float("inf"))
        turns.submit(works[name])
    with turns:
        reports = {name: list(work.read_reports()) for name, work in works.items()}
    for work in works.values():
        machine.close(work.slot)
    return {
        name: ([report.numbers for report in told if isinstance(report, StepTaken)], told[-1].state.weights)
        for name, told in reports.items()
    }


def build_steps(seed):
    rng = np.random.default_rng(seed)
    return [build_step(rng, count) for count in (1, 5, 2, 3)]


def build_step(rng, count):
    lengths = rng.integers(8, 60, size=count)
    examples = [
        make_example(rng.integers(3, 1000, size=length), rng.random(length) < 0.7, place)
        for place, length in enumerate(lengths)
    ]
    divisor = sum(example.num_trained for example in examples)
    return Step(examples, SftObjective(count, int(lengths.sum()), 0), 1e-3, divisor)


def write_rows():
    rows = [(QUESTIONS[place % 3], answer) for place, answer in enumerate(COLOURS)]
    return "\n".join(
        json.dumps({"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]})
        for asked, answer in rows
    ).encode()


def write_groups(tokenizer):
    """Groups whose members have a common start."""
    groups = [
        {
            "trajectories": [
                {
                    "messages_and_choices": [{"role": "user", "content": question}, write_choice(tokenizer, answer)],
                    "reward": float(place),
                }
                for place, answer in enumerate(COLOURS)
            ]
        }
        for question in QUESTIONS
    ]
    return json.dumps({"trajectory_groups": groups}).encode()


def write_choice(tokenizer, text):
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    entries = [
        {"token": f"token_id:{number}", "bytes": None, "logprob": -1.0 - place / 9, "top_logprobs": []}
        for place, number in enumerate(ids)
    ]
    return {
        "finish_reason": "stop",
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "logprobs": {"content": entries, "refusal": None},
        "token_ids": ids,
    }


def describe_process(member: Member):
    """Bytes of the base model that a process keeps and that there are in all, and a digest of its adapters."""
    parameters = [p for name, p in member.base.model.named_parameters() if "lora_" not in name]
    kept = sum((p.to_local() if isinstance(p, DTensor) else p).nbytes for p in parameters)
    adapters = [p.detach().numpy().tobytes() for slot in member.slots.all for p in slot.parameters.values()]
    whole = sum(p.numel() * p.element_size() for p in parameters)
    return member.crew.gather((kept, whole, hashlib.sha256(b"".join(adapters)).hexdigest()))


@dataclass(frozen=True)
class FailsAtOne(SftObjective):
    """An objective that one process has no memory for."""

    rank: int = 1

    def measure(self, examples, logprobs_N, entropies_N, surveyed):
        if dist.get_rank() == self.rank:
            raise torch.OutOfMemoryError("no memory for this")
        return super().measure(examples, logprobs_N, entropies_N, surveyed)


def do_and_fail(leader):
    """What ends a job whose pass fails in one process, and one that waits for its turn meanwhile."""
    turns = Turns(leader, Policy(64))
    leader.on_loss(turns.give_up)
    failing = Step(build_steps(0)[1].examples, FailsAtOne(5, 1, 0), 1e-3, 1.0)
    works = [
        Work(leader.open(Shape(8, 16, EVERYWHERE), None), SFT, steps, "", lambda: None, float("inf"))
        for steps in ([failing], build_steps(1))
    ]
    for work in works:
        turns.submit(work)
    with turns:
        return [catch(lambda work=work: list(work.read_reports())) for work in works] + [catch(lambda: turns.call(int))]


def catch(function):
    try:
        function()
    except JobFailure as cause:
        return cause.reason
    except Exception as cause:
        return type(cause).__name__


def main(root: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun's, when a process has failed
    torch.set_num_threads(1)
    CHUNK_VALUES["cpu"] = 1 << 14  # a dozen tokens
    crew = Crew()
    base = load_base(NAME, Source(str(MODEL)), crew.mesh)
    if crew.rank:
        Member(base, crew).follow()
        return
    with Leader(base, crew) as leader:
        found = do_jobs(leader, root)
        leader.score(None, [build_steps(0)[1].examples], lambda: None)
        processes = leader.order(describe_process)
        ends = do_and_fail(leader)
        (root / "found.pickle").write_bytes(pickle.dumps((found, processes, ends)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Jobs that give the same results in one process and in several. `main` runs in each process. Rank 0 writes the
results."""

import hashlib
import json
import os
import pickle
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from testing.jobs import MODEL, Jobs
from trainyard_trainer.compute.execution.distributed import Coordinator, DistributedExecutor
from trainyard_trainer.compute.execution.process_group import TrainerProcessGroup
from trainyard_trainer.compute.model.loading import Source, load_base
from trainyard_trainer.compute.model.slots import Shape
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.compute.rows.logprobs import CHUNK_VALUES
from trainyard_trainer.compute.rows.step import Step
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.compute.scheduling.training_run import StepReport, TrainingRun
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import JobFailure
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.sft.objective import SftObjective
from trainyard_trainer.sft.recipe import SFT

NAME = "trainyard/tiny-chat"
EVERYWHERE = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")
COLOURS = ["Red.", "Blue, of course.", "Teal.", "Green, like the grass of the hills.", "I do not know."]
QUESTIONS = ["Name a colour.", "What colour do you like best, and why do you like it?", "And?"]


def do_jobs(executor, root):
    """The results to compare: reports and weights of whole jobs, and of runs that share the device."""
    with Scheduler(executor, Policy(96)) as scheduler:
        jobs = Jobs(root, scheduler)
        first = jobs.run("RL", write_groups(executor.base.tokenizer), {"learning_rate": 1e-3})
        config = {"learning_rate": 1e-3, "kl_penalty_coef": 0.3, "precalculate_logprobs": True}
        second = jobs.run("RL", write_groups(executor.base.tokenizer), config, start=first.checkpoint)
        taught = jobs.run("SFT", write_rows(), {"learning_rate": 1e-3, "batch_size": 3})
        found = {
            "RL": (first.steps, jobs.read_weights(first)),
            "RL with a reference": (second.steps, jobs.read_weights(second)),
            "SFT": (taught.steps, jobs.read_weights(taught)),
        }
    for co_batch in (OFF, ANY):
        for name, result in do_runs(executor, Policy(64, co_batch)).items():
            found[f"{name}, joined: {co_batch}"] = result
    return found


def do_runs(executor, policy):
    """Trains two models at once with different ranks. One has adapters on the last layers only. Steps have one to five
    microbatches."""
    shapes = {"a": Shape(8, 16, EVERYWHERE), "b": Shape(4, 8, ("layers.1.mlp.down_proj", "layers.2.self_attn.q_proj"))}
    scheduler = Scheduler(executor, policy)
    runs = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        slot = executor.open(shape, None)
        runs[name] = TrainingRun(slot, RL if name == "a" else SFT, build_steps(seed), "", lambda: None, float("inf"))
        scheduler.submit(runs[name])
    with scheduler:
        reports = {name: list(run.read_reports()) for name, run in runs.items()}
    for run in runs.values():
        executor.close(run.slot)
    return {
        name: ([report.numbers for report in reported if isinstance(report, StepReport)], reported[-1].state.weights)
        for name, reported in reports.items()
    }


def build_steps(seed):
    rng = np.random.default_rng(seed)
    return [build_step(rng, count) for count in (1, 5, 2, 3)]


def build_step(rng, count):
    lengths = rng.integers(8, 60, size=count)
    examples = [
        make_example(rng.integers(3, 1000, size=length), rng.random(length) < 0.7, index)
        for index, length in enumerate(lengths)
    ]
    divisor = sum(example.num_trained for example in examples)
    return Step(examples, SftObjective(count, int(lengths.sum()), 0), 1e-3, divisor)


def write_rows():
    rows = [(QUESTIONS[index % 3], answer) for index, answer in enumerate(COLOURS)]
    return "\n".join(
        json.dumps({"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]})
        for asked, answer in rows
    ).encode()


def write_groups(tokenizer):
    """Groups whose members share a prefix."""
    groups = [
        {
            "trajectories": [
                {
                    "messages_and_choices": [{"role": "user", "content": question}, write_choice(tokenizer, answer)],
                    "reward": float(index),
                }
                for index, answer in enumerate(COLOURS)
            ]
        }
        for question in QUESTIONS
    ]
    return json.dumps({"trajectory_groups": groups}).encode()


def write_choice(tokenizer, text):
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    entries = [
        {"token": f"token_id:{number}", "bytes": None, "logprob": -1.0 - index / 9, "top_logprobs": []}
        for index, number in enumerate(ids)
    ]
    return {
        "finish_reason": "stop",
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "logprobs": {"content": entries, "refusal": None},
        "token_ids": ids,
    }


def describe_process(executor: DistributedExecutor):
    """The bytes of the base model in this process and in total, and a digest of its adapters."""
    parameters = [p for name, p in executor.base.model.named_parameters() if "lora_" not in name]
    kept = sum((p.to_local() if isinstance(p, DTensor) else p).nbytes for p in parameters)
    adapters = [p.detach().numpy().tobytes() for slot in executor.slots.all for p in slot.parameters.values()]
    whole = sum(p.numel() * p.element_size() for p in parameters)
    return executor.group.gather((kept, whole, hashlib.sha256(b"".join(adapters)).hexdigest()))


@dataclass(frozen=True)
class FailsAtOne(SftObjective):
    """An objective for which one process runs out of memory."""

    rank: int = 1

    def measure(self, examples, logprobs_N, entropies_N, mean_kl):
        if dist.get_rank() == self.rank:
            raise torch.OutOfMemoryError("no memory for this")
        return super().measure(examples, logprobs_N, entropies_N, mean_kl)


def do_and_fail(coordinator):
    """The failures of a job whose pass fails in one process, and of a job that waits meanwhile."""
    scheduler = Scheduler(coordinator, Policy(64))
    coordinator.on_failure(scheduler.abort)
    failing = Step(build_steps(0)[1].examples, FailsAtOne(5, 1, 0), 1e-3, 1.0)
    runs = [
        TrainingRun(coordinator.open(Shape(8, 16, EVERYWHERE), None), SFT, steps, "", lambda: None, float("inf"))
        for steps in ([failing], build_steps(1))
    ]
    for run in runs:
        scheduler.submit(run)
    with scheduler:
        return [catch(lambda run=run: list(run.read_reports())) for run in runs] + [catch(lambda: scheduler.call(int))]


def catch(function):
    try:
        function()
    except JobFailure as cause:
        return cause.reason
    except Exception as cause:
        return type(cause).__name__


def main() -> NoReturn:
    """Ends the process itself, as the trainer does: threads may wait forever for the other process."""
    try:
        run_rank(Path(os.environ["TRAINYARD_TEST_FOLDER"]))
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(1)


def run_rank(root: Path) -> None:
    torch.set_num_threads(1)
    CHUNK_VALUES["cpu"] = 1 << 14  # a dozen tokens
    group = TrainerProcessGroup()
    base = load_base(NAME, Source(str(MODEL)), group.mesh)
    if group.rank:
        DistributedExecutor(base, group).run_commands()
        return
    with Coordinator(base, group) as coordinator:
        found = do_jobs(coordinator, root)
        coordinator.score(None, [build_steps(0)[1].examples], lambda: None)
        processes = coordinator.run_everywhere(describe_process)
        ends = do_and_fail(coordinator)
        (root / "found.pickle").write_bytes(pickle.dumps((found, processes, ends)))

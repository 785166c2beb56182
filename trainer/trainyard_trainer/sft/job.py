"""A job of supervised training, from its conversations to its checkpoint; `run_sft_job` reads top to bottom."""

from trainyard_trainer.compute.example import make_example
from trainyard_trainer.compute.optimizer import SFT
from trainyard_trainer.data.dataset import read_rows
from trainyard_trainer.job import Job
from trainyard_trainer.opened_model import open_model
from trainyard_trainer.sft.batches import build_steps
from trainyard_trainer.sft.config import parse_sft_config
from trainyard_trainer.sft.job_warnings import find_warnings


def run_sft_job(job: Job) -> None:
    """Trains and reports; raises Fenced, Leaving, a JobFailure or whatever broke."""
    config = parse_sft_config(job.claim.config)
    rows = read_rows(job.read_input(), job.base.tokenizer, job.check)
    # One after the other: as arrays they take a fifth.
    examples = [make_example(row.ids, row.trained, place) for place, row in enumerate(rows)]
    steps = build_steps(examples, config, job.settings.max_sequence_length)
    warnings = find_warnings(examples, job.settings.max_sequence_length)
    with open_model(job, SFT) as model:
        model.resume(steps)
        num_trained = sum(step.num_trained for step in steps)
        job.lease.report_start(len(steps), {"num_trainable_tokens": num_trained}, warnings)
        state = model.train(steps, {})
        model.write_checkpoint(state, model.progress.average())

"""A job of supervised training, from its conversations to its checkpoint; `run_sft_job` reads top to bottom."""

from functools import partial

from trainyard_trainer import log
from trainyard_trainer.compute.optimizer import SFT
from trainyard_trainer.data.dataset import Row, read_rows
from trainyard_trainer.job import Job, average_steps
from trainyard_trainer.sft.config import SftConfig, parse_sft_config
from trainyard_trainer.sft.imitation import Batch, train_batch


def run_sft_job(job: Job) -> None:
    """Trains and reports; raises Fenced, a JobFailure or whatever broke."""
    config = parse_sft_config(job.claim.config)
    rows = read_rows(job.read_input(), job.base.tokenizer, job.lease.check)
    batches = build_batches(rows, config, job.settings.max_sequence_length)
    num_trained = sum(batch.num_trained for batch in batches)
    with job.open_model(SFT) as (model, optimizer):
        job.report_start(len(batches), {"num_trainable_tokens": num_trained})
        train = partial(train_batch, model, optimizer, check=job.lease.check)
        steps = job.take_steps(batches, train)
        job.write_checkpoint(model, optimizer, SFT, average_steps(steps))


def build_batches(rows: list[Row], config: SftConfig, max_length: int) -> list[Batch]:
    """Batches of rows in order, the last one short. Rows that are too long leave their batch, and move no other."""
    groups = [rows[start : start + config.batch_size] for start in range(0, len(rows), config.batch_size)]
    batches: list[Batch] = []
    for group, rate in zip(groups, config.list_rates(len(groups)), strict=True):
        fitting = [row for row in group if len(row.ids) <= max_length]
        batches.append(Batch(fitting, len(group) - len(fitting), rate))
    if dropped := sum(batch.num_dropped for batch in batches):
        log.warn("dropped rows that are too long", dropped=dropped, limit=max_length)
    return batches

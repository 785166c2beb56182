"""A job of supervised training, from its conversations to its checkpoint; `run_sft_job` reads top to bottom."""

from trainyard_trainer.job import Job
from trainyard_trainer.session import open_session
from trainyard_trainer.sft.batches import SftSteps
from trainyard_trainer.sft.config import parse_sft_config
from trainyard_trainer.sft.dataset import Reading, read_rows
from trainyard_trainer.sft.job_warnings import RowCounts, find_warnings
from trainyard_trainer.sft.recipe import SFT
from trainyard_trainer.sft.spooled_rows import spool_rows


def run_sft_job(job: Job) -> None:
    """Trains and reports. Raises Fenced, ShuttingDown, a JobFailure or any unexpected exception."""
    config, max_length = parse_sft_config(job.claim.config), job.settings.max_sequence_length
    reading = Reading(job.base.tokenizer, job.check, only_last=config.assistant_turns == "last")
    counts = RowCounts(max_length)
    with job.open_input() as lines, spool_rows(counts.watch(read_rows(lines, reading))) as rows:
        steps = SftSteps(rows, config, max_length)
        with open_session(job, SFT) as model:
            model.resume(steps)
            warnings = [*find_warnings(counts), *model.warn_of_layers()]
            job.lease.report_start(len(steps), {"num_trainable_tokens": counts.num_trained}, warnings)
            state = model.train(steps, {})
            model.write_checkpoint(state, model.progress.average())

"""Tells the status server which layers of the base model get no adapter."""

from trainyard_base_model.targets import Coverage
from trainyard_trainer import log
from trainyard_trainer.failures import Fenced, JobFailure
from trainyard_trainer.reports.status_client import StatusClient, StatusUnavailable
from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0
# The status server accepts no more of them, and no longer names.
MAX_LAYERS, MAX_NAME_LENGTH = 200, 200


def post_coverage(client: StatusClient, base_model: str, coverage: Coverage) -> None:
    """Tries until the status server answers. Nothing depends on this report."""
    layers = [name[:MAX_NAME_LENGTH] for name in coverage.left_out[:MAX_LAYERS]]
    body = {"base_model": base_model, "layers": layers, "share": coverage.share}
    pauses = back_off(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
    try:
        call_with_retries(lambda: client.post("/v1/untrained-layers", body), RetryPolicy(StatusUnavailable, pauses))
    except (Fenced, JobFailure) as cause:
        log.warn("the layers without an adapter are not reported", error=str(cause))

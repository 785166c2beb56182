"""HTTP to the status server, the only server that a trainer talks to."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import httpx

from trainyard_trainer.failures import Fenced, JobFailure

CLAIM_WAIT_SECONDS = 20
# Short, so that a hanging server uses only a part of the lease.
REPORT_TIMEOUT_SECONDS = 5.0


class StatusUnavailable(Exception):
    """No answer, or an answer that may change when the request is repeated."""


class StatusClient:
    """Every call reads the token again, because the projected token is replaced while the process runs."""

    def __init__(self, base_url: str, token_file: Path) -> None:
        self.token_file = token_file
        # Proxies are for external hosts. The status server is in the same cluster.
        self.http = httpx.Client(base_url=base_url, timeout=REPORT_TIMEOUT_SECONDS, trust_env=False)

    def claim(
        self,
        base_model: str,
        process_id: str,
        gpus: int,
        holding: Collection[str] = (),
        *,
        wait_seconds: int = CLAIM_WAIT_SECONDS,
        job_id: str | None = None,
    ) -> dict | None:
        """Claims another job, or the one with this id. None if the server had no job while it waited."""
        body = {
            "base_model": base_model,
            "process_id": process_id,
            "gpus": gpus,
            "holding": sorted(holding),
            "wait_seconds": wait_seconds,
        }
        if job_id is not None:
            body["job_id"] = job_id
        response = self.send("/v1/claims", body, timeout=wait_seconds + REPORT_TIMEOUT_SECONDS)
        if response.status_code == 204:
            return None
        if response.status_code != 200:
            raise StatusUnavailable(describe_answer(response))
        return response.json()

    def post(self, path: str, body: dict, **options: Any) -> None:
        """Raises Fenced on 409 and 404, StatusUnavailable if a retry may help, and otherwise a JobFailure."""
        response = self.send(path, body, **options)
        if response.status_code < 300:
            return
        if response.status_code in (404, 409):
            raise Fenced(describe_answer(response))
        if response.status_code in (401, 408, 429) or response.status_code >= 500:
            raise StatusUnavailable(describe_answer(response))
        raise JobFailure("Internal", "ReportRefused", describe_answer(response), retryable=False)

    def send(self, path: str, body: dict, **options: Any) -> httpx.Response:
        try:
            headers = {"authorization": f"Bearer {self.token_file.read_text().strip()}"}
            return self.http.post(path, json=body, headers=headers, **options)
        except (httpx.TransportError, OSError) as cause:
            raise StatusUnavailable(f"{type(cause).__name__}: {cause}") from cause


def describe_answer(response: httpx.Response) -> str:
    return f"the status server answered {response.status_code}: {response.text[:300]}"

"""Ends requests whose logits are not finite, and keeps nothing of them.

vLLM would sample a token from such logits, answer with status 200, and keep the blocks for requests with the same
prefix.
"""

from typing import Any

from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutputs
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus

from trainyard_engine.clean_blocks import keep_blocks_clean

keep_blocks_clean()


class CleanScheduler(Scheduler):
    """`spoiled` are the requests of the latest step whose logits are not finite."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.spoiled: set[str] = set()

    def update_from_output(
        self, scheduler_output: SchedulerOutput, model_runner_output: ModelRunnerOutput
    ) -> dict[int, EngineCoreOutputs]:
        counts = model_runner_output.num_nans_in_logits or {}
        self.spoiled = {name for name, count in counts.items() if count and name in self.requests}
        for name in self.spoiled:
            self.kv_cache_manager.evict_blocks(
                {block for group in self.kv_cache_manager.get_block_ids(name) for block in group}
            )
        return super().update_from_output(scheduler_output, model_runner_output)

    def _update_request_with_output(
        self, request: Request, new_token_ids: list[int], is_stale: bool = False
    ) -> tuple[list[int], bool]:
        if request.request_id not in self.spoiled:
            return super()._update_request_with_output(request, new_token_ids, is_stale)
        request.status = RequestStatus.FINISHED_ERROR
        request.resumable = False
        return [], True

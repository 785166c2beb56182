"""Divides the engine between tenants by tokens, sequences, blocks of the key-value cache, and adapters.

vLLM serves requests in the order of their arrival. One request with a thousand choices would keep all others waiting.
"""

import time
from collections import Counter
from typing import Any

from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import Request

from trainyard_engine.fairness.preemption import (
    Capacity,
    Claim,
    Held,
    choose_adapter_to_drain,
    choose_victims,
    find_lack,
)
from trainyard_engine.fairness.queue import FairQueue
from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import Tenant, tenant_of

# A prompt gets at least this part of a step, for any number of tenants.
MIN_PART = 4


class FairScheduler(Scheduler):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stride = StrideScheduler()
        #: the tenant of each request that is not finished
        self.tenants: dict[str, Tenant] = {}
        self.counts: Counter[Tenant] = Counter()
        self.waiting = FairQueue(self.stride)
        lora = self.lora_config
        blocks = self.kv_cache_manager.block_pool.num_gpu_blocks
        self.capacity = Capacity(self.max_num_active_reqs, blocks, lora.max_loras if lora else 0)
        self.prompt_part = self.scheduler_config.long_prefill_token_threshold

    def add_request(self, request: Request) -> None:
        if request.request_id not in self.tenants:
            tenant = self.tenants[request.request_id] = tenant_of(request)
            self.counts[tenant] += 1
            self.stride.enter(tenant)
        super().add_request(request)

    def _free_request(self, request: Request, delay_free_blocks: bool = False) -> Any:
        tenant = self.tenants.pop(request.request_id, None)
        if tenant is not None:
            self.counts[tenant] -= 1
            if not self.counts[tenant]:
                del self.counts[tenant]
                self.stride.leave(tenant)
        return super()._free_request(request, delay_free_blocks)

    def schedule(self, *args: Any, **options: Any) -> SchedulerOutput:
        self.scheduler_config.long_prefill_token_threshold = self.limit_prompts()
        if len(self.counts) < 2:
            return super().schedule(*args, **options)
        # vLLM takes tokens and blocks from the last ones first.
        self.running.sort(key=lambda request: self.stride.times[self.tenants[request.request_id]])
        held_back = self.make_room()
        self.waiting.remove_requests(held_back)
        output = super().schedule(*args, **options)
        for request in reversed(held_back):
            self.waiting.put_back(request)
        return output

    def limit_prompts(self) -> int:
        """How many tokens of one prompt a step computes at most, so that it has some for the others. 0 for all."""
        config = self.scheduler_config
        if len(self.counts) < 2 or not config.enable_chunked_prefill or self.need_mamba_block_aligned_split:
            return self.prompt_part
        part = config.max_num_batched_tokens // min(len(self.counts), MIN_PART)
        return min(part, self.prompt_part) if self.prompt_part else part

    def make_room(self) -> list[Request]:
        """Lets running requests wait, so that the request whose turn is next can run.

        Returns waiting requests that must not start in this step.
        """
        waiting = next((request for request in self.waiting if can_start(request)), None)
        if waiting is None:
            return []
        claimant = self.describe(waiting, self.count_needed_blocks(waiting))
        free_blocks = self.kv_cache_manager.block_pool.get_num_free_blocks()
        adapters = set(map(adapter_of, self.running))
        if not find_lack(
            self.capacity, claimant, sequences=len(self.running), adapters=adapters, free_blocks=free_blocks
        ):
            return []
        running = {request.request_id: request for request in self.running}
        held = [self.describe(request, self.count_blocks(name)) for name, request in running.items()]
        claim = Claim(claimant, self.capacity, held, free_blocks, self.stride.times)
        victims = choose_victims(claim)
        for victim in victims:
            self.running.remove(running[victim.name])
            self._preempt_request(running[victim.name], time.monotonic(), drop_stale_output=self.requires_kv_delivery)
        drained = 0 if victims else choose_adapter_to_drain(claim)
        return [request for request in self.waiting if drained and adapter_of(request) == drained]

    def describe(self, request: Request, blocks: int) -> Held:
        return Held(request.request_id, self.tenants[request.request_id], blocks, adapter_of(request))

    def count_blocks(self, name: str) -> int:
        return sum(map(len, self.kv_cache_manager.get_blocks(name).blocks))

    def count_needed_blocks(self, request: Request) -> int:
        """What the request needs at most to start."""
        groups = len(self.kv_cache_manager.kv_cache_config.kv_cache_groups)
        return groups * (request.num_tokens // self.block_size + 1)

    def _update_after_schedule(self, scheduler_output: SchedulerOutput) -> None:
        for name, count in scheduler_output.num_scheduled_tokens.items():
            self.stride.charge(self.tenants[name], count)
        super()._update_after_schedule(scheduler_output)


def can_start(request: Request) -> bool:
    """False while a request waits for its grammar, or for tokens of its last run."""
    is_late = request.num_stale_output_tokens and not request.drop_stale_output
    return not Scheduler._is_blocked_waiting_status(request.status) and not is_late


def adapter_of(request: Request) -> int:
    return request.lora_request.lora_int_id if request.lora_request else 0

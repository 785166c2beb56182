"""The requests that wait for the engine."""

from collections import deque
from collections.abc import Iterable, Iterator

from vllm.v1.core.sched.request_queue import RequestQueue
from vllm.v1.request import Request

from trainyard_engine.fairness.stride import StrideScheduler
from trainyard_engine.fairness.tenants import Tenant, tenant_of

# What a turn costs before its tokens are known, so that tenants alternate within one step.
TURN = 1


class FairQueue(RequestQueue):
    """Tenants take turns. The requests of one tenant keep their order."""

    def __init__(self, stride: StrideScheduler) -> None:
        self.stride = stride
        #: a tenant without waiting requests has no entry
        self.lines: dict[Tenant, deque[Request]] = {}

    def add_request(self, request: Request) -> None:
        self.lines.setdefault(tenant_of(request), deque()).append(request)

    def prepend_request(self, request: Request) -> None:
        """Takes a request back, and its turn."""
        self.put_back(request)
        self.stride.charge(tenant_of(request), -TURN)

    def put_back(self, request: Request) -> None:
        self.lines.setdefault(tenant_of(request), deque()).appendleft(request)

    def prepend_requests(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.prepend_request(request)

    def peek_request(self) -> Request:
        tenant = self.stride.pick(self.lines)
        if tenant is None:
            raise IndexError("no request waits")
        return self.lines[tenant][0]

    def pop_request(self) -> Request:
        request = self.peek_request()
        self.remove_request(request)
        self.stride.charge(tenant_of(request), TURN)
        return request

    def remove_request(self, request: Request) -> None:
        self.remove_requests([request])

    def remove_requests(self, requests: Iterable[Request]) -> None:
        """Requests that do not wait are ignored, as in vLLM's own queues."""
        removed: dict[Tenant, set[Request]] = {}
        for request in requests:
            removed.setdefault(tenant_of(request), set()).add(request)
        for tenant, those in removed.items():
            line = self.lines.get(tenant)
            if line and line[0] in those and len(those) == 1:
                line.popleft()
            elif line:
                self.lines[tenant] = line = deque(request for request in line if request not in those)
            if not line:
                self.lines.pop(tenant, None)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def __len__(self) -> int:
        return sum(map(len, self.lines.values()))

    def __iter__(self) -> Iterator[Request]:
        """The tenant whose turn is next comes first."""
        for tenant in sorted(self.lines, key=self.stride.times.__getitem__):
            yield from self.lines[tenant]

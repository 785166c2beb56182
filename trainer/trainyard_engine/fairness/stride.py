"""Whose turn is next."""

from collections.abc import Iterable

from trainyard_engine.fairness.tenants import Tenant


class StrideScheduler:
    """Stride scheduling (Waldspurger and Weihl, 1995), as in the control plane. The cost of work is known afterwards.

    `times` are the virtual times of the tenants that take part: what they had, divided by their weights.
    """

    def __init__(self) -> None:
        self.times: dict[Tenant, float] = {}
        #: when a tenant was last served, as the number of the charge
        self.served: dict[Tenant, int] = {}
        self.charges = 0

    def enter(self, tenant: Tenant) -> None:
        """Lets a tenant take part. It neither owes nor saved anything while it was away."""
        self.times.setdefault(tenant, min(self.times.values(), default=0.0))
        self.served.setdefault(tenant, 0)

    def leave(self, tenant: Tenant) -> None:
        self.times.pop(tenant, None)
        self.served.pop(tenant, None)

    def charge(self, tenant: Tenant, cost: float) -> None:
        self.charges += 1
        self.times[tenant] += cost / tenant.weight
        self.served[tenant] = self.charges

    def pick(self, tenants: Iterable[Tenant]) -> Tenant | None:
        """The tenant with the least time. Of equal ones, the one that was served longest ago."""
        return min(tenants, key=lambda tenant: (self.times[tenant], self.served[tenant]), default=None)

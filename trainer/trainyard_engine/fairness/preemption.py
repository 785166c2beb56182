"""Which running requests make room for one that waits."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from trainyard_engine.fairness.tenants import Tenant


@dataclass(frozen=True)
class Held:
    """What a request has, or needs, of an engine. Adapter 0 is the base model."""

    name: str
    tenant: Tenant
    blocks: int
    adapter: int


@dataclass(frozen=True)
class Capacity:
    """What an engine has: sequences at once, blocks of the key-value cache, and adapters in a batch."""

    sequences: int
    blocks: int
    adapters: int


class Shares:
    """What tenants have of an engine.

    The share of a tenant is the largest of its shares of one resource, divided by its weight (dominant resource
    fairness, Ghodsi et al., 2011).
    """

    def __init__(self, capacity: Capacity, running: Sequence[Held]) -> None:
        self.capacity = capacity
        self.sequences: Counter[Tenant] = Counter()
        self.blocks: Counter[Tenant] = Counter()
        self.adapters: dict[Tenant, Counter[int]] = {}
        for held in running:
            self.add(held)

    def add(self, held: Held, count: int = 1) -> None:
        self.sequences[held.tenant] += count
        self.blocks[held.tenant] += count * held.blocks
        if held.adapter:
            adapters = self.adapters.setdefault(held.tenant, Counter())
            adapters[held.adapter] += count
            if not adapters[held.adapter]:
                del adapters[held.adapter]

    def of(self, tenant: Tenant) -> float:
        """Between 0 and 1, divided by the weight."""
        share = max(
            self.sequences[tenant] / self.capacity.sequences,
            self.blocks[tenant] / self.capacity.blocks,
            len(self.adapters.get(tenant, ())) / max(1, self.capacity.adapters),
        )
        return share / tenant.weight


def find_lack(
    capacity: Capacity, claimant: Held, *, sequences: int, adapters: Set[int], free_blocks: int
) -> str | None:
    """What a request lacks to run beside so many sequences with these adapters: an adapter, a sequence, or blocks."""
    if claimant.adapter and claimant.adapter not in adapters and len(adapters - {0}) >= capacity.adapters:
        return "adapter"
    if sequences >= capacity.sequences:
        return "sequence"
    return "blocks" if claimant.blocks > free_blocks else None


@dataclass(frozen=True)
class Claim:
    """`running` has the oldest first. `times` are the virtual times of the tenants.

    `free_blocks` may be more than it seems, because requests share blocks.
    """

    claimant: Held
    capacity: Capacity
    running: Sequence[Held]
    free_blocks: int
    times: Mapping[Tenant, float]


def choose_victims(claim: Claim) -> list[Held]:
    """The running requests that give their places to the claimant: the newest of the tenants with the largest shares.

    None, if the claimant's tenant would then have more than one of them, or had more tokens than that one already. So
    two tenants never take the same place from each other in turn.
    """
    claimant, left, victims = claim.claimant, list(claim.running), []
    shares = Shares(claim.capacity, left)
    shares.add(claimant)
    while lack := find_lack_beside(claim, left, sum(held.blocks for held in victims)):
        chosen = choose_next(claim, shares, left, lack == "adapter")
        for held in chosen:
            shares.add(held, -1)
            left.remove(held)
        if not chosen or shares.of(chosen[0].tenant) < shares.of(claimant.tenant):
            return []
        victims += chosen
    return victims


def find_lack_beside(claim: Claim, left: Sequence[Held], freed_blocks: int = 0) -> str | None:
    """What the claimant lacks beside the requests that are left."""
    adapters, free_blocks = {held.adapter for held in left}, claim.free_blocks + freed_blocks
    return find_lack(claim.capacity, claim.claimant, sequences=len(left), adapters=adapters, free_blocks=free_blocks)


def choose_next(claim: Claim, shares: Shares, left: Sequence[Held], adapter: bool) -> list[Held]:
    """The newest request of the tenant with the largest share, or all requests of its least used adapter."""
    due = claim.times[claim.claimant.tenant]
    others = {held.tenant for held in left if held.tenant != claim.claimant.tenant and claim.times[held.tenant] >= due}
    if adapter:
        others = {tenant for tenant in others if shares.adapters.get(tenant)}
    if not others:
        return []
    richest = max(others, key=shares.of)
    if adapter:
        least_used, _ = min(shares.adapters[richest].items(), key=lambda used: used[1])
        return [held for held in left if held.adapter == least_used]
    return [next(held for held in reversed(left) if held.tenant == richest)]


def choose_adapter_to_drain(claim: Claim) -> int:
    """The adapter that gets no new requests, if the claimant waits for one and nobody makes room.

    Of the tenant that had the most tokens, it is the one with the fewest requests. 0 if the claimant waits for none.
    """
    if find_lack_beside(claim, claim.running) != "adapter":
        return 0
    with_adapter = [held for held in claim.running if held.adapter]
    served_most = max(with_adapter, key=lambda held: claim.times[held.tenant]).tenant
    used = Counter(held.adapter for held in with_adapter if held.tenant == served_most)
    return min(used, key=used.__getitem__)

"""Which trajectories' tokens are kept."""

import hashlib

from trainyard_trainer.reports.claims import ALL, SAMPLED

# One trajectory in so many is kept where they are sampled.
SAMPLED_ONE_IN = 16


def is_kept(mode: str, job_id: str, group: int, trajectory: int) -> bool:
    """The same trajectories for every attempt at a job, spread evenly over groups and jobs by a hash."""
    if mode != SAMPLED:
        return mode == ALL
    digest = hashlib.sha256(f"{job_id}/{group}/{trajectory}".encode()).digest()
    return int.from_bytes(digest[:8]) % SAMPLED_ONE_IN == 0

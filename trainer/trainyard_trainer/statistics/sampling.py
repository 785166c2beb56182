"""Chooses the trajectories whose tokens are kept."""

import hashlib

from trainyard_trainer.reports.claims import ALL, SAMPLED

# One of this many trajectories is kept if they are sampled.
SAMPLED_ONE_IN = 16


def is_kept(mode: str, job_id: str, group: int, trajectory: int) -> bool:
    """Chooses the same trajectories for every attempt at a job. A hash distributes them evenly over groups and jobs."""
    if mode != SAMPLED:
        return mode == ALL
    digest = hashlib.sha256(f"{job_id}/{group}/{trajectory}".encode()).digest()
    return int.from_bytes(digest[:8]) % SAMPLED_ONE_IN == 0

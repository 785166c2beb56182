"""The programs that share a container."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from trainyard_base_model.parent_death import end_with_parent


@dataclass(frozen=True)
class Program:
    """A program, its arguments and its environment."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]

    async def start(self) -> Process:
        return await asyncio.create_subprocess_exec(*self.command, env=self.env, preexec_fn=end_with_parent)


def terminate(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()


async def end(process: Process, grace_seconds: float) -> None:
    """Kills it if it has not ended after the time."""
    terminate(process)
    try:
        await asyncio.wait_for(process.wait(), grace_seconds)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

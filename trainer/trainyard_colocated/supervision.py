"""Keeps a trainer running as long as its engine runs."""

import asyncio
import signal
import time
from asyncio.subprocess import Process

from trainyard_colocated.programs import Program, end, terminate

# A trainer gets 55 seconds to save its jobs; see TRAINYARD_GRACE_SECONDS.
TRAINER_GRACE_SECONDS = 60.0
# A trainer that fails starts again after twice as long as the time before, up to the longest wait.
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 300.0


async def supervise(engine: Program, trainer: Program) -> int:
    """Returns the exit code of the engine. At SIGTERM the trainer ends first: while it has the device, the engine can
    finish no response."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    serving = await engine.start()
    training = asyncio.create_task(keep_running(trainer))
    await wait_for_first(serving, stop)
    training.cancel()
    await asyncio.wait([training])
    terminate(serving)
    return to_exit_code(await serving.wait())


async def wait_for_first(serving: Process, stop: asyncio.Event) -> None:
    waits = [asyncio.create_task(serving.wait()), asyncio.create_task(stop.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


async def keep_running(program: Program) -> None:
    """Starts the program again whenever it ends, until this task is cancelled. The engine serves meanwhile."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        started = time.monotonic()
        process = await program.start()
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            await end(process, TRAINER_GRACE_SECONDS)
            raise
        if time.monotonic() - started > MAX_PAUSE_SECONDS:
            pause = FIRST_PAUSE_SECONDS
        print(f"The {program.name} ended with exit code {code}, and starts again in {pause:.0f} s", flush=True)
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_PAUSE_SECONDS)


def to_exit_code(returned: int) -> int:
    """As a shell reports a process that a signal has ended."""
    return 128 - returned if returned < 0 else returned

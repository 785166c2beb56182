"""Forks of the engine's server."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from testing.deadlines import MAX_WAIT_SECONDS

# A server with an event loop that wakes on signals. It prints what its fork has of it.
SERVER = """
import os, signal, socket, time
from trainyard_engine.engine_process import tie_engine_processes
tie_engine_processes()
ours, theirs = socket.socketpair()
theirs.setblocking(False)
signal.set_wakeup_fd(theirs.fileno())
if os.fork() == 0:
    print(os.getpid(), signal.set_wakeup_fd(-1), flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    """An ended process may stay a zombie for a while."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_fork_ends_with_its_server_and_does_not_wake_its_loop():
    command = [sys.executable, "-c", SERVER]
    folder = Path(__file__).parents[1]
    with subprocess.Popen(command, cwd=folder, env=os.environ, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        pid, wakeup = map(int, server.stdout.readline().split())
        assert is_alive(pid)
        server.kill()
    assert wakeup == -1
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)

"""The trainer process at the other end of a connection."""

import asyncio
import os
import select
import signal
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass

POLL_SECONDS = 0.05
# A process that was told to end, or is about to, may take this long.
EXIT_SECONDS = 30.0


@dataclass(frozen=True)
class ConnectedTrainer:
    """`process` is a descriptor of the process, which cannot mean another one later."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    process: int

    async def read(self) -> bytes:
        """Returns one byte, or none when the connection is broken."""
        with suppress(ConnectionError):
            return await self.reader.read(1)
        return b""

    async def send(self, message: bytes) -> None:
        """If the connection is broken, `read` says so."""
        with suppress(ConnectionError):
            self.writer.write(message)
            await self.writer.drain()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)

    async def wait_for_exit(self) -> None:
        """Linux frees the device of a process before its end can be seen here."""
        deadline = time.monotonic() + EXIT_SECONDS
        while not select.select([self.process], [], [], 0)[0]:
            if time.monotonic() >= deadline:
                self.kill()
            await asyncio.sleep(POLL_SECONDS)

    def close(self) -> None:
        os.close(self.process)
        self.writer.close()


def accept_trainer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> ConnectedTrainer:
    credentials = struct.Struct("3i")  # pid, uid, gid; see unix(7)
    connection: socket.socket = writer.get_extra_info("socket")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
    return ConnectedTrainer(reader, writer, os.pidfd_open(credentials.unpack(found)[0]))

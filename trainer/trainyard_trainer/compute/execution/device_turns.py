"""The trainer's side of sharing a device with the engine of its pod."""

import select
import socket
import time
from pathlib import Path

from trainyard_base_model.device_turns import GRANTED, RELEASE, WANT, YIELD
from trainyard_trainer import log

RETRY_SECONDS = 0.5
REPORT_SECONDS = 60.0


class DeviceTurns:
    """The connection to the engine. Only one thread may use it.

    Without an engine, nobody else has the device. It is then granted at once, so that jobs can still be saved.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.is_held = False

    def acquire(self) -> None:
        """Returns when the engine has left the device."""
        self.send(WANT)
        while self.receive() == YIELD:  # it asked for the last turn's end when that had ended already
            pass
        self.is_held = True

    def release(self) -> None:
        self.is_held = False
        self.send(RELEASE)

    def is_yield_due(self) -> bool:
        """Whether the engine wants the device back."""
        can_read = select.select([self.connection], [], [], 0)[0]
        return bool(can_read) and self.receive() == YIELD

    def send(self, message: bytes) -> None:
        try:
            self.connection.sendall(message)
        except ConnectionError:
            log.warn("the engine of this pod is gone")

    def receive(self) -> bytes:
        try:
            return self.connection.recv(1) or GRANTED
        except ConnectionError:
            return GRANTED


def connect_to_engine(path: Path) -> DeviceTurns:
    """Waits until the engine serves. Before that, it measures how much of the device is free."""
    reported = time.monotonic()
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(path))
            return DeviceTurns(connection)
        except OSError:
            connection.close()
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            log.info("waiting for the engine of this pod")
        time.sleep(RETRY_SECONDS)

"""Reports that wait until the status server takes them."""

import threading
from collections import deque
from collections.abc import Callable

from trainyard_trainer.failures import Fenced, JobFailure

# Hours of an outage. After that the job waits.
MAX_REPORTS = 20_000


class Spool:
    """Sends reports in their order, in the thread that calls `run`.

    `send` repeats a report until the server accepts it. `check` raises the error that ended the sending.
    """

    def __init__(self, send: Callable[[str, dict], None], check: Callable[[], None]) -> None:
        self.send = send
        self.check = check
        self.reports: deque[tuple[str, dict]] = deque()
        self.changed = threading.Condition()
        self.closed = False

    def put(self, name: str, body: dict) -> None:
        """Returns at once, unless the spool is full."""
        self.wait_until(lambda: len(self.reports) < MAX_REPORTS)
        with self.changed:
            self.reports.append((name, body))
            self.changed.notify_all()

    def flush(self) -> None:
        """Waits until all reports were accepted."""
        self.wait_until(lambda: not self.reports)

    def close(self) -> None:
        """Drops what waits. The report under way may still arrive."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def run(self) -> None:
        """Sends what is there and what comes, until the end."""
        while report := self.wait_for_report():
            try:
                self.send(*report)
            except (Fenced, JobFailure):
                self.close()
                return
            with self.changed:
                self.reports.popleft()
                self.changed.notify_all()

    def wait_for_report(self) -> tuple[str, dict] | None:
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.reports)
            return None if self.closed else self.reports[0]

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """A heartbeat may end the sending too, so this looks again after a second."""
        while True:
            self.check()
            with self.changed:
                if self.changed.wait_for(lambda: self.closed or condition(), timeout=1.0):
                    break
        self.check()

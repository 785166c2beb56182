"""Why a process cannot begin to serve its base model."""


class StartFailure(Exception):
    """`reason` is one word in PascalCase. The process ends with one line, from which the operator reads both."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message

"""Prepares texts from elsewhere for sending: of exceptions, rows and file names."""


def make_sendable(text: str, max_length: int) -> str:
    """Truncates a text. Halves of surrogate pairs, which UTF-8 cannot encode, become question marks."""
    return text[:max_length].encode(errors="replace").decode()

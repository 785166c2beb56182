"""Texts of others in what is sent: of exceptions, of rows and of files' names."""


def make_sendable(text: str, max_length: int) -> str:
    """At most so many characters of it, with a question mark for halves of surrogate pairs, which UTF-8 has none of."""
    return text[:max_length].encode(errors="replace").decode()

"""Texts of others in what is sent: of exceptions, of rows and of files' names."""


def make_sendable(text: str, longest: int) -> str:
    """At most so many characters of it, with a question mark for halves of surrogate pairs, which UTF-8 has none of."""
    return text[:longest].encode(errors="replace").decode()

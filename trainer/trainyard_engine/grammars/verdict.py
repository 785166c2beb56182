"""The result of compiling a grammar."""

from dataclasses import dataclass

# The members of a request that set a grammar, and those that influence it.
SETTING = ("structured_outputs", "response_format", "tools")
INFLUENCING = ("tool_choice", "parallel_tool_calls", "chat_template_kwargs", "reasoning_effort", "include_reasoning")


@dataclass(frozen=True)
class Grammar:
    """The digest of what the engine compiles, and the bytes that its cache keeps of it."""

    key: str
    size: int


@dataclass(frozen=True)
class Verdict:
    """Without an error, the request's grammar. None if it sets none, or if vLLM itself will reject it at once."""

    grammar: Grammar | None = None
    error: str | None = None
    #: whether the result is about the grammar itself, not about the current load
    lasting: bool = True


class GrammarError(Exception):
    """The request does not reach the engine because of its grammar."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence

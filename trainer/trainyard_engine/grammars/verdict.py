"""What came of compiling a grammar."""

from dataclasses import dataclass

# The members of a request that set a grammar, and those that have a say in it.
SETTING = ("structured_outputs", "response_format", "tools")
INFLUENCING = ("tool_choice", "parallel_tool_calls", "chat_template_kwargs", "reasoning_effort", "include_reasoning")


@dataclass(frozen=True)
class Grammar:
    """The digest of what the engine compiles, and the bytes that it then keeps of it."""

    key: str
    size: int


@dataclass(frozen=True)
class Verdict:
    """Without an error: the request's grammar, or None where it sets none or vLLM itself rejects it at once."""

    grammar: Grammar | None = None
    error: str | None = None
    #: whether the error says something about the grammar, rather than about this moment
    lasting: bool = True


class GrammarError(Exception):
    """A request that does not reach the engine for its grammar."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence

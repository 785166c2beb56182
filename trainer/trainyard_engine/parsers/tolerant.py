"""Extends vLLM's parsers so that no text of a model causes an error.

Text that a parser cannot read becomes the content of the answer, unchanged, in complete replies and in streams.
"""

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall, FunctionCall
from vllm.logger import init_logger
from vllm.parser.abstract_parser import Parser
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

logger = init_logger("vllm.trainyard_engine.parsers")

Parsed = tuple[str | None, str | None, list[FunctionCall] | None]


class Tolerance(Parser):
    """Wraps a parser of vLLM. vLLM creates one for each request."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.stream = StreamSoFar()

    def adjust_request(self, request: Any) -> Any:
        if must_call(request):
            self.tool_strict_level = ToolStrictLevel.PARAMETER
        return super().adjust_request(request)

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> Parsed:
        try:
            parsed = super().parse(model_output, request, enable_auto_tools, model_output_token_ids)
            check_text([text for call in parsed[2] or [] for text in (call.name, call.arguments)])
            return parsed
        except Exception:
            logger.exception("a parser failed at what a model has written")
            return None, model_output, []

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        stream = self.stream
        stream.texts.append(delta_text)
        if stream.failed:
            return DeltaMessage(content=delta_text)
        try:
            delta = super().parse_delta(delta_text, delta_token_ids, request, prompt_token_ids, finished=finished)
            check_text(list_call_texts(delta))
        except Exception:
            logger.exception("a parser failed at what a model has streamed")
            stream.failed = True
            return DeltaMessage(content=stream.find_unsent())
        stream.record(delta)
        return join_pieces(self.finish(delta, request) if finished else delta)

    def finish(self, delta: DeltaMessage | None, request: Any) -> DeltaMessage | None:
        """Sends text that was held back for a call that did not follow. Engine-based parsers do this themselves."""
        if self.stream.has_call or self._engine_based or not request.tools or request.tool_choice == "none":
            return delta
        _, content, calls = self.parse("".join(self.stream.texts), request, enable_auto_tools=True)
        rest = self.stream.find_rest(content or "")
        if not calls and not rest:
            return delta
        delta = delta or DeltaMessage()
        delta.content = (delta.content or "") + rest or None
        delta.tool_calls = [present_call(index, call) for index, call in enumerate(calls or [])]
        return delta


def join_pieces(delta: DeltaMessage | None) -> DeltaMessage | None:
    """Joins the pieces of each call in an event, because many clients read only the first piece.

    vLLM's parsers create two pieces, the name and the first arguments, if several tokens arrive at once.
    """
    if delta is None or len(delta.tool_calls) < 2:
        return delta
    joined: dict[int, DeltaToolCall] = {}
    for piece in delta.tool_calls:
        known = joined.setdefault(piece.index, piece)
        if known is not piece:
            append_piece(known, piece)
    delta.tool_calls = list(joined.values())
    return delta


def append_piece(call: DeltaToolCall, piece: DeltaToolCall) -> None:
    call.id = call.id or piece.id
    call.type = call.type or piece.type
    function, more = call.function, piece.function
    if function is None:
        call.function = more
    elif more is not None:
        function.name = function.name or more.name
        function.arguments = (function.arguments or "") + (more.arguments or "")


def make_tolerant(parser_cls: type[Parser] | None) -> type[Parser] | None:
    return parser_cls and type("TolerantParser", (Tolerance, parser_cls), {})


class StreamSoFar:
    """The text that a model has written in a stream, and the sent part of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.contents: list[str] = []
        self.has_call = False
        self.has_reasoning = False
        self.failed = False

    def record(self, delta: DeltaMessage | None) -> None:
        if delta is None:
            return
        self.contents.append(delta.content or "")
        self.has_call = self.has_call or bool(delta.tool_calls)
        self.has_reasoning = self.has_reasoning or bool(delta.reasoning)

    def find_rest(self, content: str) -> str:
        """The unsent rest of the whole content. Empty if other text was sent."""
        sent = "".join(self.contents)
        return content[len(sent) :] if content.startswith(sent) else ""

    def find_unsent(self) -> str:
        """The unsent rest of the text. Only the last piece if not all of the text was content."""
        is_content = not self.has_call and not self.has_reasoning
        return self.find_rest("".join(self.texts)) if is_content else self.texts[-1]


def must_call(request: Any) -> bool:
    """Whether arguments must follow their schemas: those of a required call, unless a tool has `strict: false`."""
    if not request.tools or request.tool_choice in (None, "none", "auto"):
        return False
    return all(read_strict(tool) is not False for tool in request.tools)


def read_strict(tool: Any) -> bool | None:
    return getattr(getattr(tool, "function", tool), "strict", None)


def list_call_texts(delta: DeltaMessage | None) -> list[str]:
    functions = [call.function for call in (delta.tool_calls if delta else []) if call.function]
    return [text for function in functions for text in (function.name, function.arguments) if text]


def check_text(texts: list[str]) -> None:
    """Raises UnicodeEncodeError for half of a surrogate pair. JSON in a call may have one, but no answer can."""
    for text in texts:
        text.encode()


def present_call(index: int, call: FunctionCall) -> DeltaToolCall:
    function = DeltaFunctionCall(name=call.name, arguments=call.arguments)
    return DeltaToolCall(index=index, type="function", id=call.id or make_tool_call_id(), function=function)

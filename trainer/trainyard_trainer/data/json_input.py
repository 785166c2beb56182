"""JSON from a client. It is checked while it is read, and each error names the path of the wrong value."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeGuard

from trainyard_trainer.failures import InvalidInput

# The limit for one conversation. The time to find its answers grows with the square of their number.
MAX_MESSAGES = 5_000
# Words in the types of parts that training cannot read, such as input_image, image_url, audio_url and input_file.
MEDIA = ("image", "audio", "video", "file")


def parse_json(text: str, what: str) -> object:
    with as_invalid_input(what):
        return json.loads(text, parse_constant=reject_constant)


@contextmanager
def as_invalid_input(what: str) -> Iterator[None]:
    """Raises InvalidInput with a sentence, instead of the parser's exception."""
    try:
        yield
    except RecursionError as cause:
        raise InvalidInput(f"{what} is nested too deeply.") from cause
    except ValueError as cause:
        raise InvalidInput(f"{what} is not JSON: {cause}.") from cause


def reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def is_number(value: object) -> TypeGuard[int | float]:
    """True for a finite number that fits into a float. True and false are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def require_object(value: object, where: str) -> dict:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} must be an object.")
    return value


def require_list(value: object, where: str) -> list:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list.")
    return value


def require_messages(value: object, where: str) -> list[dict]:
    """Requires messages, and sampled Choices, that a chat template can render. Calls of functions, OpenAI's older form,
    become calls of tools."""
    items = require_list(value, where)
    if len(items) > MAX_MESSAGES:
        raise InvalidInput(f"{where} has {len(items)} messages; at most {MAX_MESSAGES} can be trained on.")
    for index, item in enumerate(items):
        check_item(item, f"{where}[{index}]")
    return convert_function_calls(items)


def require_tools(value: object, where: str) -> list[dict] | None:
    """Null and an empty list mean no tools."""
    if value is None:
        return None
    tools = require_list(value, where)
    for index, tool in enumerate(tools):
        require_object(tool, f"{where}[{index}]")
    return tools or None


def require_functions(value: object, where: str) -> list[dict] | None:
    """Functions in OpenAI's older form, as tools."""
    functions = require_tools(value, where)
    return functions and [{"type": "function", "function": function} for function in functions]


def convert_function_calls(items: list[dict]) -> list[dict]:
    """Older clients write a call as `function_call`, and its result with the role `function`."""
    converted: list[dict] = []
    latest = None
    for item in items:
        message = get_message(item)
        if message.get("function_call"):
            # Some templates require ids of nine letters and digits.
            latest = f"call{len(converted):05}"
            message = convert_call(message, latest)
        elif message.get("role") == "function":
            message = message | {"role": "tool"} | ({"tool_call_id": latest} if latest else {})
        converted.append(item | {"message": message} if is_choice(item) else message)
    return converted


def convert_call(message: dict, call_id: str) -> dict:
    others = {name: value for name, value in message.items() if name != "function_call"}
    return others | {"tool_calls": [{"id": call_id, "type": "function", "function": message["function_call"]}]}


def check_item(item: object, where: str) -> None:
    fields = require_object(item, where)
    message = require_object(get_message(fields), f"{where}.message")
    role = message.get("role")
    if not isinstance(role, str) and not (is_choice(fields) and role is None):
        raise InvalidInput(f"{where}.role must be a string.")
    check_content(message.get("content"), f"{where}.content")
    check_calls(message, where)


def check_calls(message: dict, where: str) -> None:
    for call in require_list(message.get("tool_calls") or [], f"{where}.tool_calls"):
        require_object(require_object(call, f"{where}.tool_calls").get("function"), f"{where}.tool_calls.function")
    if not message.get("function_call"):
        return
    function = require_object(message["function_call"], f"{where}.function_call")
    if not isinstance(function.get("name"), str):
        raise InvalidInput(f"{where}.function_call.name must be a string.")
    if message.get("tool_calls"):
        raise InvalidInput(f"{where} has both tool_calls and function_call. Send only tool_calls.")


def check_content(content: object, where: str) -> None:
    if not isinstance(content, str | list | None):
        raise InvalidInput(f"{where} must be a string, a list of parts, or null.")
    for part in content if isinstance(content, list) else []:
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str | None) or part is None:
            raise InvalidInput(f"{where}: every part must be a string, or an object with a string `text`.")
        if isinstance(part, dict):
            reject_media(part, where)


def reject_media(part: Mapping[str, object], where: str) -> None:
    if kind := find_media(part):
        advice = "Only text can be trained on: remove it."
        raise InvalidInput(f"{where} has a part with `{kind}`. {advice}", "MediaUnsupported")


def find_media(part: Mapping[str, object]) -> str | None:
    """The type of a part that is an image, a sound, a video or a file. Without a type, the member that is one."""
    kind = part.get("type")
    names = [kind] if isinstance(kind, str) else part if part.get("text") is None else []
    return next((name for name in names if any(word in name for word in MEDIA)), None)


def get_message(item: dict) -> Any:
    """The message of a Choice. Any other item is a message itself."""
    return item["message"] if is_choice(item) else item


def is_choice(item: dict) -> bool:
    """A Choice was sampled from a model. Any other item is a plain message."""
    return "finish_reason" in item and "message" in item

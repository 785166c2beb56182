"""Captured exchanges of a trajectory: requests and replies of a model's API, of which each reply says its token ids.

Four APIs are captured: chat completions, completions, responses, and the messages of Anthropic. Only exchanges with the
model that is trained are read. Their replies must be complete, because nothing else says what was sampled.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from msgspec import Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from trainyard_trainer.data.choices import (
    CHOICE,
    NUMBERS,
    TRUNCATED,
    Sampled,
    parse_token_id,
    read_sampled,
    read_start,
    read_token_ids,
)
from trainyard_trainer.data.parts import ABSENT, Values, read_parts
from trainyard_trainer.data.prompts import PromptParts, require_text
from trainyard_trainer.failures import InvalidInput

# Before every exchange that says its time.
FIRST_TIME = datetime.min.replace(tzinfo=UTC)
# Values of these settings that leave the model's own distribution as it is.
PLAIN = {"temperature": (1, None), "top_p": (1, None), "top_k": (0, -1, None), "min_p": (0, None)}


class ExchangesParts(Struct):
    chat_completions: list[Raw] | None = None
    completions: list[Raw] | None = None
    responses: list[Raw] | None = None
    messages: list[Raw] | None = None


class RequestParts(PromptParts):
    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    min_p: float | None = None


class ReplyParts(Struct):
    model: str | None = None


class ExchangeParts(Struct):
    response: Raw
    request: RequestParts | None = None
    start_time: str | None = None
    end_time: str | None = None


class ChoicesParts(Struct):
    choices: list[Raw]
    prompt_token_ids: Raw = ABSENT


class CompletionLogprobs(Struct):
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None


class CompletionParts(Struct):
    finish_reason: str | None = None
    logprobs: CompletionLogprobs | None = None
    token_ids: Raw = ABSENT
    prompt_token_ids: Raw = ABSENT


class GeneratedToken(Struct):
    token_id: int | None = None
    token: str | None = None
    logprob: float | None = None


class GenerationParts(Struct):
    prompt_token_ids: Raw = ABSENT
    token_ids: Raw = ABSENT
    output_tokens: list[GeneratedToken] | None = None
    compact_logprobs: Raw = ABSENT


class ResponseParts(Struct):
    token_generations: list[GenerationParts] | None = None
    status: str | None = None


class MessageParts(Struct):
    stop_reason: str | None = None
    prompt_token_ids: Raw = ABSENT
    token_ids: Raw = ABSENT
    logprobs: Raw = ABSENT
    compact_logprobs: Raw = ABSENT


EXCHANGES, EXCHANGE, REPLY = Decoder(ExchangesParts), Decoder(ExchangeParts), Decoder(ReplyParts)
CHOICES, COMPLETION = Decoder(ChoicesParts), Decoder(CompletionParts)
RESPONSE, MESSAGE = Decoder(ResponseParts), Decoder(MessageParts)


def read_exchanges(content: Raw, values: Values, where: str, is_trained: Callable[[str], bool]) -> list[Sampled]:
    """The answers of the model that is trained, in the order of their exchanges. `is_trained` knows its names."""
    parts = read_parts(content, EXCHANGES, where)
    found: list[tuple[tuple[datetime, datetime], list[Sampled]]] = []
    for kind, read in READERS.items():
        for index, each in enumerate(getattr(parts, kind) or ()):
            path = f"{where}.{kind}[{index}]"
            exchange = read_parts(each, EXCHANGE, path)
            if is_trained(find_model(exchange, path)):
                require_text(exchange.request, f"{path}.request")
                times = (parse_time(exchange.start_time), parse_time(exchange.end_time))
                found.append((times, list(read_answers(exchange, read, values, path))))
    return list(chain.from_iterable(answers for _, answers in sorted(found, key=lambda item: item[0])))


def find_model(exchange: ExchangeParts, path: str) -> str:
    """The name that the client asked for. Without one, the name in the reply."""
    asked = exchange.request.model if exchange.request else None
    return asked or read_parts(exchange.response, REPLY, f"{path}.response").model or ""


def parse_time(text: str | None) -> datetime:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return FIRST_TIME
    return time if time.tzinfo else time.replace(tzinfo=UTC)


Reader = Callable[[Raw, Values, str], Iterator[Sampled]]


def read_answers(exchange: ExchangeParts, read: Reader, values: Values, path: str) -> Iterator[Sampled]:
    sampling = find_sampling(exchange.request)
    for answer in read(exchange.response, values, f"{path}.response"):
        require_exact(answer)
        yield replace(answer, sampling=answer.sampling or sampling)


def find_sampling(request: RequestParts | None) -> dict[str, object]:
    """The settings of the request that change the distribution which tokens are sampled from."""
    given = {name: getattr(request, name, None) for name in PLAIN}
    return {name: value for name, value in given.items() if value is not None and value not in PLAIN[name]}


def require_exact(answer: Sampled) -> None:
    path, ids, logprobs = answer.captured, answer.token_ids, answer.logprobs
    if not ids or read_start(answer.prompt) != b"[":
        missing = "prompt_token_ids" if ids else "token_ids"
        raise InvalidInput(
            f"{path} has no {missing}, so that what was sampled is unknown. Sample it through this service, or "
            "from the trained model with return_token_ids.",
            "UnknownTokens",
        )
    if logprobs and len(logprobs) != len(ids):
        raise InvalidInput(f"{path} has {len(ids)} token ids, but {len(logprobs)} log-probabilities.", "UnknownTokens")


def read_chat(response: Raw, values: Values, where: str) -> Iterator[Sampled]:
    reply = read_parts(response, CHOICES, where)
    for index, content in enumerate(reply.choices):
        path = f"{where}.choices[{index}]"
        parts = read_parts(content, CHOICE, path)
        answer = replace(read_sampled(parts, values, path, prompt=reply.prompt_token_ids), captured=path)
        said = find_ids([token["token"] for token in answer.tokens])
        given = read_token_ids(parts.token_ids)
        require_agreement(given, said, path)
        yield replace(answer, token_ids=said if given is None else given)


def read_completions(response: Raw, values: Values, where: str) -> Iterator[Sampled]:
    reply = read_parts(response, CHOICES, where)
    for index, content in enumerate(reply.choices):
        path = f"{where}.choices[{index}]"
        parts = read_parts(content, COMPLETION, path)
        logprobs = parts.logprobs or CompletionLogprobs()
        given, said = read_token_ids(parts.token_ids), find_ids(logprobs.tokens or [])
        require_agreement(given, said, path)
        known = [value for value in logprobs.token_logprobs or [] if value is not None]
        prompt = parts.prompt_token_ids if read_start(parts.prompt_token_ids) == b"[" else reply.prompt_token_ids
        is_truncated = parts.finish_reason == TRUNCATED
        yield make_answer(values, known, given if given is not None else said, prompt, path, is_truncated)


def read_responses(response: Raw, values: Values, where: str) -> Iterator[Sampled]:
    """A response may consist of several generations of the model, with the results of tools between them."""
    reply = read_parts(response, RESPONSE, where)
    if not reply.token_generations:
        raise InvalidInput(
            f"{where} has no token_generations, so that what was sampled is unknown. Sample it through this service.",
            "UnknownTokens",
        )
    last = len(reply.token_generations) - 1
    for index, parts in enumerate(reply.token_generations):
        path = f"{where}.token_generations[{index}]"
        tokens = parts.output_tokens or []
        said = [parse_token_id(token.token) if token.token_id is None else token.token_id for token in tokens]
        complete = None if None in said or not said else [number for number in said if number is not None]
        given = read_token_ids(parts.token_ids)
        require_agreement(given, complete, path)
        compact = read_numbers(parts.compact_logprobs, f"{path}.compact_logprobs")
        known = compact or [token.logprob for token in tokens if token.logprob is not None]
        is_truncated = index == last and reply.status == "incomplete"
        ids = given if given is not None else complete
        yield make_answer(values, known, ids, parts.prompt_token_ids, path, is_truncated)


def read_messages(response: Raw, values: Values, where: str) -> Iterator[Sampled]:
    parts = read_parts(response, MESSAGE, where)
    known = read_numbers(parts.compact_logprobs, where) or read_numbers(parts.logprobs, f"{where}.logprobs")
    ids, is_truncated = read_token_ids(parts.token_ids), parts.stop_reason == "max_tokens"
    yield make_answer(values, known, ids, parts.prompt_token_ids, where, is_truncated)


READERS: dict[str, Reader] = {
    "chat_completions": read_chat,
    "completions": read_completions,
    "responses": read_responses,
    "messages": read_messages,
}


def make_answer(
    values: Values, logprobs: Sequence[float], ids: list[int] | None, prompt: Raw, path: str, is_truncated: bool
) -> Sampled:
    values.count_sampled(len(ids or ()))
    return Sampled(logprobs, ids, (), prompt, is_truncated, captured=path)


def read_numbers(content: Raw, where: str) -> list[float]:
    return read_parts(content, NUMBERS, where) if read_start(content) == b"[" else []


def find_ids(tokens: Iterable[object]) -> list[int] | None:
    """The ids of tokens that were all written as `token_id:N`."""
    ids = [parse_token_id(token) for token in tokens]
    return None if None in ids or not ids else [number for number in ids if number is not None]


def require_agreement(given: list[int] | None, said: list[int] | None, path: str) -> None:
    if given is not None and said is not None and given != said:
        raise InvalidInput(f"{path}.token_ids differ from the ids in its log-probabilities.", "UnknownTokens")

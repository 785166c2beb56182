"""The grammar of a request: the members of its body, or vLLM's parameters."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trainyard_engine.grammars.verdict import INFLUENCING, SETTING, GrammarError

if TYPE_CHECKING:
    from vllm.sampling_params import StructuredOutputsParams

MAX_ORDER_BYTES = 256 * 1024
NESTED = "This grammar is nested too deeply; simplify it."
# JSON may write a letter as \u0061, also in a name. Ordinary clients never do.
SET_SOMEWHERE = re.compile(rb'"(?:%s)"|\\u00[4-7]' % "|".join(SETTING).encode())


@dataclass(frozen=True)
class MembersOrder:
    """The members of a chat request that set its grammar, as JSON text, which allows any depth."""

    text: str
    #: the member that an error names
    param: str

    @cached_property
    def digest(self) -> str:
        return digest_of("members", self.text)


@dataclass(frozen=True)
class ParamsOrder:
    """vLLM's parameters of a request. Their digest is the grammar's key."""

    params: "StructuredOutputsParams"

    @property
    def param(self) -> str:
        return "structured_outputs"

    @cached_property
    def digest(self) -> str:
        # Imported late: the engine's first process reads its settings before vLLM is imported.
        from vllm.v1.structured_output.request import get_structured_output_key

        try:
            kind, specification = get_structured_output_key(self.params)
        except RecursionError as cause:
            raise GrammarError(400, NESTED) from cause
        return digest_of(kind.name, specification)


Order = MembersOrder | ParamsOrder


def digest_of(kind: str, specification: str) -> str:
    if len(specification) > MAX_ORDER_BYTES:
        raise GrammarError(400, f"A grammar has at most {MAX_ORDER_BYTES // 1024} KiB of JSON; make it smaller.")
    return hashlib.sha256(f"{kind}:{specification}".encode("utf-8", "surrogatepass")).hexdigest()


def read_order(body: bytes, setting: Sequence[str] = SETTING) -> MembersOrder | None:
    """None if none of these members sets a grammar, or if the body is not a JSON object (vLLM reports that).

    Raises GrammarError when a member is nested too deeply to be parsed.
    """
    if not SET_SOMEWHERE.search(body):
        return None
    try:
        return pick_members(json.loads(body), setting)
    except RecursionError as cause:
        raise GrammarError(400, NESTED) from cause
    except ValueError:
        return None


def pick_members(document: object, setting: Sequence[str]) -> MembersOrder | None:
    if not isinstance(document, dict) or not any(sets_grammar(document, name) for name in setting):
        return None
    wanted = {name: document[name] for name in (*SETTING, *INFLUENCING) if document.get(name) is not None}
    return MembersOrder(json.dumps(wanted, sort_keys=True), next(name for name in SETTING if name in wanted))


def sets_grammar(document: dict[str, Any], name: str) -> bool:
    """Tools set none where the model may call one or not, and none says that it is strict, as in most requests."""
    if document.get(name) is None or name != "tools":
        return document.get(name) is not None
    choice = document.get("tool_choice")
    if choice == "none":
        return False
    if choice not in (None, "auto") or document.get("parallel_tool_calls") is False:
        return True
    return '"strict"' in json.dumps(document["tools"])

"""Ops of every kind: reads their calls back, renames and deletes them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator

import weave
from session import begin, end, name_of, plain

client = begin()


@weave.op
def double(number: int) -> int:
    return 2 * number


@weave.op
def outer(number: int, note: str = "none") -> dict:
    return {"sum": double(number) + double(number + 1), "big": 2**60 + 1, "whole": 1.0, "note": note}


@weave.op
async def fetch(name: str) -> str:
    await asyncio.sleep(0.01)
    return name.upper()


@weave.op
async def gather(names: list[str]) -> list[str]:
    return await asyncio.gather(*(fetch(name) for name in names))


@weave.op(accumulator=lambda so_far, part: [*(so_far or []), part])
def count(upto: int) -> Iterator[int]:
    yield from range(upto)


@weave.op(accumulator=lambda so_far, part: (so_far or "") + part)
async def stream(words: list[str]) -> AsyncIterator[str]:
    for word in words:
        yield word


@weave.op
def fail(why: str) -> None:
    raise ValueError(why)


@weave.op(call_display_name="a name of its own")
def named(text: str) -> str:
    return text


class Greeter(weave.Model):
    greeting: str

    @weave.op
    def predict(self, name: str) -> str:
        return f"{self.greeting}, {name}"


async def drain(words: list[str]) -> list[str]:
    return [word async for word in stream(words)]


def run_all() -> None:
    outer(3, note="täglich ☂ \u2028 \x7f")
    asyncio.run(gather(["a", "b"]))
    list(count(4))
    asyncio.run(drain(["one ", "two"]))
    with contextlib.suppress(ValueError):
        fail("no such luck")
    with weave.attributes({"tenant": "blue", "tries": 3}):
        named("x")
    Greeter(name="greeter", greeting="Hello").predict("sea")


def tell(call) -> dict:
    return {
        "op": name_of(call.op_name),
        "name": call.display_name,
        "inputs": sorted(call.inputs.keys()),
        "output": repr(plain(call.output)),
        "error": json.loads(call.exception)["message"] if call.exception else None,
        "status": call.summary["weave"]["status"],
        "ended": call.ended_at is not None and call.ended_at >= call.started_at,
    }


run_all()
client.flush()
calls = list(client.get_calls())
by_id = {call.id: call for call in calls}
parents = sorted([name_of(by_id[c.parent_id].op_name), name_of(c.op_name)] for c in calls if c.parent_id)
named_call = next(call for call in calls if name_of(call.op_name) == "named")
predicted = next(call for call in calls if "predict" in call.op_name)
outer_call = next(call for call in calls if name_of(call.op_name) == "outer")
facts = {
    "calls": sorted((tell(call) for call in calls), key=lambda told: (told["op"], told["output"])),
    "parents": parents,
    "traces": len({call.trace_id for call in calls}),
    "one_trace_per_tree": all(by_id[c.parent_id].trace_id == c.trace_id for c in calls if c.parent_id),
    "attributes": {key: named_call.attributes[key] for key in ("tenant", "tries")},
    "model_read_back": predicted.inputs["self"].greeting,
    "note": outer_call.inputs["note"],
    "children": sorted(plain(child.output) for child in outer_call.children()),
    "status_counts": {str(getattr(key, "value", key)): n for key, n in outer_call.summary["status_counts"].items()},
}

_, renamed = named.call("y")
renamed.set_display_name("another")
client.flush()
facts["renamed"] = client.get_call(renamed.id).display_name
renamed.remove_display_name()
client.flush()
facts["name_removed"] = client.get_call(renamed.id).display_name

before = len(client.get_calls())
outer_call.delete()
client.flush()
facts["deleted_with_children"] = before - len(client.get_calls())
client.delete_calls([renamed.id])
try:
    client.get_call(renamed.id)
    facts["after_delete"] = "still there"
except ValueError as error:
    facts["after_delete"] = str(error).split(":")[0]
end(facts)

"""Queries of calls: filters, the query language, sorting, columns, pages, counts."""

import weave
from session import begin, end, name_of

CALLS = 1203

client = begin()


@weave.op
def weigh(number: int, tag: str | None, mass: float) -> dict:
    if number == 7:
        raise RuntimeError("seven")
    return {"mass": mass, "parts": [number, {"deep": f"d{number % 3}"}], "word": f"Word{number}"}


@weave.op
def parent(number: int) -> dict:
    return weigh(number, "child", 0.5)


def run_all() -> list[str]:
    ids = []
    for number in range(CALLS):
        with weave.attributes({"shelf": {"row": number % 4}}):
            try:
                _, call = weigh.call(number, ["even", "odd"][number % 2], number / 8)
                ids.append(call.id)
            except RuntimeError:
                pass
    parent(2000)
    client.flush()
    return ids


def field(path: str) -> dict:
    return {"$getField": path}


def literal(value: object) -> dict:
    return {"$literal": value}


def number_of(path: str) -> dict:
    return {"$convert": {"input": field(path), "to": "double"}}


def numbers(expression: dict | None = None, **options: object) -> list[int]:
    if expression:
        options["query"] = {"$expr": expression}
    return [call.inputs["number"] for call in client.get_calls(**options)]


run_all()
weighs = {"op_names": [weigh.ref.uri]}
any_version = {"op_names": [weigh.ref.uri.rsplit(":", 1)[0] + ":*"]}
small = {"$not": [{"$gt": [number_of("inputs.number"), literal(9)]}]}
newest_first = [{"field": "started_at", "direction": "desc"}]
by_mass = [{"field": "output.mass", "direction": "desc"}, {"field": "inputs.number", "direction": "asc"}]

everything = list(client.get_calls())
one = client.get_calls(filter=weighs, columns=["inputs.number"], limit=1)[0]
parent_call = client.get_calls(filter={"op_names": [parent.ref.uri]})[0]
started = sorted(call.started_at.timestamp() for call in everything)
between = (started[999] + started[1000]) / 2  # In seconds. It lies between two calls.

facts = {
    "all": len(everything),
    "distinct": len({call.id for call in everything}),
    "in_order": [call.started_at for call in everything] == sorted(call.started_at for call in everything),
    "len": len(client.get_calls()),
    "len_of_filter": len(client.get_calls(filter=weighs)),
    "len_of_query": len(client.get_calls(query={"$expr": {"$eq": [field("inputs.tag"), literal("odd")]}})),
    "any_version": len(client.get_calls(filter=any_version)),
    "roots": len(client.get_calls(filter={"trace_roots_only": True})),
    "parents": numbers(filter={"parent_ids": [parent_call.id]}),
    "trace": sorted(numbers(filter={"trace_ids": [parent_call.trace_id]})),
    "ids": numbers(filter={"call_ids": [everything[5].id, everything[3].id]}),
    "newest": numbers(filter=weighs, sort_by=newest_first, limit=3),
    "page": numbers(filter=weighs, limit=3, offset=1100),
    "past_the_end": numbers(filter=weighs, limit=5, offset=CALLS),
    "slice": [call.inputs["number"] for call in client.get_calls(filter=weighs)[998:1002]],
    "small_pages": numbers(filter=weighs, page_size=7, limit=20),
    "small": sorted(numbers({"$and": [{"$eq": [field("inputs.tag"), literal("even")]}, small]}, filter=weighs)),
    "heaviest": numbers(filter=weighs, sort_by=by_mass, limit=3),
    "without_mass_come_last": numbers(filter=weighs, sort_by=by_mass, offset=CALLS - 1),
    "failed": numbers({"$eq": [field("summary.weave.status"), literal("error")]}),
    "exception": numbers(
        {"$contains": {"input": field("exception"), "substr": literal("SEVEN"), "case_insensitive": True}}
    ),
    "contains": numbers({"$contains": {"input": field("output.word"), "substr": literal("rd100")}}),
    "in": numbers({"$in": [field("output.word"), [literal("Word4"), literal("Word400"), literal("word5")]]}),
    "deep": len(numbers({"$eq": [field("output.parts.1.deep"), literal("d2")]}, filter=weighs)),
    "attribute": len(numbers({"$eq": [field("attributes.shelf.row"), literal("3")]})),
    "or": numbers({"$or": [{"$eq": [number_of("inputs.number"), literal(n)]} for n in (3, 1000)]}, filter=weighs),
    "missing": numbers({"$eq": [field("output.mass"), literal("")]}, filter=weighs),
    "gte": len(numbers({"$gte": [number_of("output.mass"), literal(150.0)]}, filter=weighs)),
    "since": len(client.get_calls(query={"$expr": {"$gte": [field("started_at"), literal(between)]}})),
    "sizes": [
        call.storage_size_bytes > 0 and call.total_storage_size_bytes >= call.storage_size_bytes
        for call in client.get_calls(include_storage_size=True, include_total_storage_size=True, limit=2)
    ],
    "columns": {
        "inputs": dict(one.inputs.items()),
        "output": one.output,
        "op": name_of(one.op_name),
        "same": [one.id == everything[0].id, one.trace_id == everything[0].trace_id],
    },
}
end(facts)

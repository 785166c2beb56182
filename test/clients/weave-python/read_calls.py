"""Reads the calls of a project that another client has written."""

from session import begin, end, name_of, plain

client = begin()
calls = list(client.get_calls())
by_id = {call.id: call for call in calls}
outer = next(call for call in calls if name_of(call.op_name) == "outer")
evaluated = next(call for call in calls if name_of(call.op_name) == "Evaluation.evaluate")
counts: dict[str, int] = {}
for call in calls:
    counts[name_of(call.op_name)] = counts.get(name_of(call.op_name), 0) + 1
end(
    {
        "counts": counts,
        "outer": [outer.display_name, plain(outer.inputs)["note"], plain(outer.output)],
        "children": sorted(call.output for call in outer.children()),
        "statuses": sorted({(name_of(call.op_name), call.summary["weave"]["status"]) for call in calls}),
        "threads": [call.thread_id for call in calls if call.thread_id],
        "evaluated": plain(evaluated.output)["exact"],
        "picture": next(call for call in calls if name_of(call.op_name) == "paint").output.getpixel((2, 1)),
        "orphans": [call.id for call in calls if call.parent_id and call.parent_id not in by_id],
        "unfinished": [call.id for call in calls if not call.ended_at],
    }
)

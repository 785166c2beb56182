"""Threads: turns of conversations, and the server's statistics of threads."""

import weave
from session import begin, end

client = begin()


@weave.op
def inner(text: str) -> str:
    return text.upper()


@weave.op
def say(text: str) -> str:
    return inner(text)


with weave.thread("first"):
    say("one")
    say("two")
with weave.thread("second"):
    say("three")
    with weave.thread("nested"):
        say("four")
say("alone")
with weave.thread():
    say("five")
client.flush()


def query(**more: object) -> list:
    return list(client.server.threads_query_stream({"project_id": client.project_id, **more}))


threads = query(sort_by=[{"field": "turn_count", "direction": "desc"}, {"field": "start_time", "direction": "asc"}])
calls = list(client.get_calls())
turns = {call.id: call for call in calls if call.turn_id == call.id}
first = next(thread for thread in threads if thread.thread_id == "first")
of_first = list(client.get_calls(filter={"thread_ids": ["first"]}))
of_turn = list(client.get_calls(filter={"turn_ids": [first.first_turn_id]}))
facts = {
    "counted": [
        [thread.thread_id if len(thread.thread_id) < 10 else "generated", thread.turn_count] for thread in threads
    ],
    "turns": sorted(call.inputs["text"] for call in turns.values()),
    "of_first": [call.inputs["text"] for call in of_first],
    "of_turn": [call.inputs["text"] for call in of_turn],
    "first_and_last": [turns[first.first_turn_id].inputs["text"], turns[first.last_turn_id].inputs["text"]],
    "durations": first.p50_turn_duration_ms is not None
    and 0 <= first.p50_turn_duration_ms <= first.p99_turn_duration_ms,
    "bounds": turns[first.first_turn_id].started_at == first.start_time
    and turns[first.last_turn_id].ended_at == first.last_updated,
    "alone_has_none": [call.thread_id for call in calls if call.inputs["text"] == "alone"],
    "filtered": [thread.thread_id for thread in query(filter={"thread_ids": ["second"]})],
    "newest_first": [thread.thread_id for thread in query(limit=2, offset=1)],
    "after": len(query(filter={"after_datetime": first.last_updated.isoformat()})),
}
end(facts)

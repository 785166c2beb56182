"""Feedback on calls and objects: reactions, notes, custom types and scores; read, counted, queried, purged."""

import asyncio

import weave
from session import begin, end, name_of, plain

client = begin()


@weave.op
def answer(question: str) -> str:
    return question[::-1]


@weave.op
def length(output: str) -> dict:
    return {"length": len(output)}


class Vowels(weave.Scorer):
    vowels: str = "aeiou"

    @weave.op
    def score(self, output: str) -> dict:
        return {"vowels": sum(letter in self.vowels for letter in output)}


def of_type(feedback_type: str) -> dict:
    return {"$expr": {"$eq": [{"$getField": "feedback_type"}, {"$literal": feedback_type}]}}


_, first = answer.call("one")
_, second = answer.call("three")
_, third = answer.call("five")
client.flush()

reaction = first.feedback.add_reaction("👍🏽")
note = first.feedback.add_note("Well said. \u2028 ☂")
custom = first.feedback.add("my.type", {"mood": {"depth": 3}, "big": 2**53 + 1})
second.feedback.add_reaction("👎", creator="a reader")
client.flush()

listed = list(first.feedback)
facts = {
    "ids_kept": [one.id for one in listed] == [reaction, note, custom],
    "listed": [[one.feedback_type, plain(one.payload)] for one in listed],
    "payload_number_kept": listed[2].payload["big"] == 2**53 + 1,
    "of_call": {one.weave_ref for one in listed} == {first.ref.uri},
    "has_user": all(one.wb_user_id for one in listed),
    "all": len(client.get_feedback()),
    "by_reaction": [one.creator for one in client.get_feedback(reaction="👎")],
    "by_id": [one.feedback_type for one in client.get_feedback(note)],
    "by_query": len(client.get_feedback(query=of_type("wandb.note.1"))),
    "page": [one.feedback_type for one in client.get_feedback(limit=2, offset=1)],
}

asyncio.run(second.apply_scorer(length))
asyncio.run(third.apply_scorer(length))
vowels = Vowels(name="vowels")
asyncio.run(third.apply_scorer(vowels))
client.flush()

scored = next(one for one in third.feedback if one.runnable_ref and "vowels" in one.runnable_ref)
with_feedback = client.get_call(first.id, include_feedback=True)
depth = {"$getField": "feedback.[my.type].payload.mood.depth"}
on_depth = {"$expr": {"$gt": [{"$convert": {"input": depth, "to": "double"}}, {"$literal": 2}]}}
facts |= {
    "score": [scored.feedback_type, plain(scored.payload), scored.call_ref is not None],
    "scored_by_name": [call.inputs["question"] for call in client.get_calls(scored_by="length")],
    "scored_by_both": [call.inputs["question"] for call in client.get_calls(scored_by=["length", "vowels"])],
    "scored_by_ref": [call.inputs["question"] for call in client.get_calls(scored_by=scored.runnable_ref)],
    "scored_by_none": len(client.get_calls(scored_by="nobody")),
    "runnable": name_of(scored.runnable_ref),
    "included": sorted(one["feedback_type"] for one in with_feedback.summary["weave"]["feedback"]),
    "calls_by_feedback": [call.inputs["question"] for call in client.get_calls(query=on_depth)],
    "calls_by_emoji": [
        call.inputs["question"]
        for call in client.get_calls(
            query={
                "$expr": {
                    "$eq": [{"$getField": "feedback.[wandb.reaction.1].payload.emoji"}, {"$literal": "👎"}],
                },
            }
        )
    ],
}

first.feedback.purge(note)
facts["left"] = [one.feedback_type for one in first.feedback]

prompt = weave.publish(weave.StringPrompt("Say {word}."), name="saying")
object_feedback = weave.ref(prompt.uri).get().ref.uri
client.server.feedback_create(
    {
        "project_id": client.project_id,
        "weave_ref": object_feedback,
        "feedback_type": "wandb.note.1",
        "payload": {"note": "of an object"},
    }
)
client.flush()
facts["of_object"] = [
    plain(one.payload)
    for one in client.get_feedback(
        query={"$expr": {"$eq": [{"$getField": "weave_ref"}, {"$literal": object_feedback}]}}
    )
]


def refused(add) -> str:
    try:
        add()
        client.flush()
        return "accepted"
    except Exception as error:
        return type(error).__name__


facts["refused"] = [refused(lambda: first.feedback.add("wandb.mine", {"a": 1}))]
end(facts)

"""The features of weave 0.52.20 without streamed queries: these fail in the SDK, before a request is sent.

Uses ops, versions of objects, a dataset, feedback, costs, an evaluation and an image. Only counts calls: read_calls.py
reads them with another version.
"""

import asyncio
import contextlib

import weave
from PIL import Image
from session import begin, end, plain

client = begin()


@weave.op
def double(number: int) -> int:
    return 2 * number


@weave.op
def outer(number: int, note: str) -> dict:
    return {"sum": double(number) + double(number + 1), "note": note}


@weave.op
def fail(why: str) -> None:
    raise ValueError(why)


@weave.op
def paint() -> Image.Image:
    return Image.new("RGB", (3, 2), (1, 2, 3))


@weave.op
def exact(output: int, target: int) -> bool:
    return output == target


_, call = outer.call(3, "☂")
with contextlib.suppress(ValueError):
    fail("no such luck")
paint()
with weave.thread("talk"):
    double(10)
client.flush()
call.set_display_name("renamed")
client.flush()

reaction = call.feedback.add_reaction("👍")
note = call.feedback.add_note("good")
call.feedback.add("my.type", {"depth": 3})
client.flush()
call.feedback.purge(note)

first = weave.publish({"temperature": 0.5}, name="settings")
second = weave.publish({"temperature": 1.0}, name="settings")
album = weave.publish({"picture": Image.new("RGB", (3, 2), (1, 2, 3))}, name="album")
rows = [{"number": number, "word": f"w{number % 10}"} for number in range(1000)]
dataset = weave.publish(weave.Dataset(name="numbers", rows=rows)).get()
grown = dataset.add_rows([{"number": -1, "word": "new"}])

targets = weave.Dataset(name="targets", rows=[{"number": number, "target": number + 2} for number in (1, 2, 3)])
evaluation = weave.Evaluation(name="doubling", dataset=targets, scorers=[exact])
summary = asyncio.run(evaluation.evaluate(double))
cost = client.add_cost("tide-1", 0.5, 2).ids[0][0]
client.flush()

facts = {
    "feedback": [[one.feedback_type, plain(one.payload).get("emoji")] for one in call.feedback],
    "reaction_id": [one.id for one in client.get_feedback(reaction="👍")] == [reaction],
    "versions": [plain(weave.ref(f"settings:{version}").get()) for version in ("v0", "v1", "latest")],
    "picture": album.get()["picture"].getpixel((2, 1)),
    "rows": [len(dataset), sum(row["number"] for row in dataset), plain(dataset[987])],
    "grown": len(weave.ref("numbers").get().rows),
    "evaluation": plain(summary)["exact"],
    "costs": [[one.llm_id, one.prompt_token_cost] for one in client.query_costs()],
    "calls": len(client.get_calls()),
    "roots": len(client.get_calls(filter={"trace_roots_only": True})),
    "failed": len(
        client.get_calls(
            query={"$expr": {"$eq": [{"$getField": "summary.weave.status"}, {"$literal": "error"}]}},
        )
    ),
}
client.purge_costs(cost)
facts["costs_left"] = len(client.query_costs())
client.delete_object_version(second)
facts["latest_after_delete"] = plain(weave.ref("settings").get())
end(facts)

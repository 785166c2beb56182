"""Objects: versions, their addresses, paths into them, ops as objects, deletion, tags and aliases."""

import weave
from session import begin, end, plain

client = begin()


class Recipe(weave.Object):
    title: str
    steps: list[dict]
    inner: dict


@weave.op
def bake(minutes: int) -> str:
    return f"{minutes} minutes"


def message_of(read) -> str:
    try:
        read()
        return "no error"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


first = weave.publish({"temperature": 0.5, "stop": ["a", "b"], "ünï": 2**60 + 1}, name="settings")
second = weave.publish({"temperature": 1.0, "stop": []}, name="settings")
again = weave.publish({"temperature": 0.5, "stop": ["a", "b"], "ünï": 2**60 + 1}, name="settings")
latest_again = plain(weave.ref("settings").get())["temperature"]
third = weave.publish({"temperature": 7}, name="settings")
by_name = weave.ref("settings").get()
facts = {
    "same_digest": first.digest == again.digest,
    "published_again": latest_again,
    "first": repr(plain(first.get())),
    "second": repr(plain(second.get())),
    "latest": plain(by_name),
    "versions": [plain(weave.ref(f"settings:{version}").get())["temperature"] for version in ("v0", "v1", "v2")],
    "by_digest": plain(weave.ref(f"settings:{second.digest}").get()),
    "by_uri": plain(weave.ref(third.uri).get()),
    "missing": message_of(lambda: weave.ref("settings:v9").get()).split(" (status")[-1],
    "missing_name": message_of(lambda: weave.ref("nowhere").get()).split(" (status")[-1],
}

steps = [{"do": "mix", "minutes": 3}, {"do": "bake", "minutes": 30}]
recipe = Recipe(name="bread", title="Bread", steps=steps, inner={"a/b c": {"deep": [1, 2, 3]}})
published = weave.publish(recipe)
holder = weave.publish({"favourite": published, "op": bake}, name="holder")
bread = published.get()
held = holder.get()
facts |= {
    "object": [type(bread).__name__, bread.title, [plain(step) for step in bread.steps]],
    "path": weave.ref(f"{published.uri}/attr/steps/index/1/key/minutes").get(),
    "path_with_escapes": weave.ref(f"{published.uri}/attr/inner/key/a%2Fb%20c/key/deep/index/2").get(),
    "path_through_ref": weave.ref(f"{holder.uri}/key/favourite/attr/title").get(),
    "held_object": held["favourite"].title,
    "held_op": held["op"](12),
    "op_by_ref": weave.ref(bake.ref.uri).get()(7) if bake.ref else "unpublished",
    "classes": sorted(
        (one.object_id, one.base_object_class, one.is_latest, one.version_index)
        for one in client._objects(filter={"base_object_classes": ["Recipe", "Object"]})
    ),
    "all_versions": sorted(
        (one.version_index, one.is_latest) for one in client._objects(filter={"object_ids": ["settings"]})
    ),
    "latest_only": sorted(one.object_id for one in client._objects(filter={"latest_only": True, "is_op": False})),
}

prompt = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Say {word}."}]), name="saying")
facts["prompt"] = prompt.get().format(word="tide")

client.delete_object_version(third)
facts |= {
    "deleted": message_of(third.get).split(" (status ")[-1].split(" was deleted")[0],
    "latest_after_delete": plain(weave.ref("settings").get()),
    "v2_after_delete": message_of(lambda: weave.ref("settings:v2").get()).split(" (status ")[-1].split(" was")[0],
    "deleted_rest": client.delete_all_object_versions("settings"),
    "latest_of_none": "deleted" in message_of(lambda: weave.ref("settings").get()),
    "delete_again": message_of(lambda: client.delete_all_object_versions("settings")).split(":")[0],
}
revived = weave.publish({"temperature": 1.0, "stop": []}, name="settings")
facts["revived"] = [revived.digest == second.digest, plain(weave.ref("settings").get())]
client.delete_op_version(bake.ref)
facts["deleted_op"] = "deleted" in message_of(lambda: weave.ref(bake.ref.uri).get())
end(facts)

"""Tags and aliases of object versions."""

import weave
from session import begin, end, plain

client = begin()

first = weave.publish({"step": 1}, name="policy")
second = weave.publish({"step": 2}, name="policy")
other = weave.publish({"step": 9}, name="other")

weave.add_tags(first, ["good", "blue"])
weave.add_tags(second, ["good"])
weave.set_aliases(first, "production")
weave.set_aliases(second, ["staging", "best"])
facts = {
    "tags": sorted(weave.get_tags(first)),
    "aliases": [sorted(weave.get_aliases(first)), sorted(weave.get_aliases(second))],
    "both": [sorted(part) for part in weave.get_tags_and_aliases(second)],
    "all_tags": sorted(weave.list_tags()),
    "all_aliases": sorted(weave.list_aliases()),
    "by_alias": [
        plain(weave.ref(f"policy:{alias}").get())["step"] for alias in ("production", "staging", "latest", "v0")
    ],
    "untouched": weave.get_tags(other),
}
weave.set_aliases(second, "production")
weave.remove_tags(first, ["blue"])
weave.remove_aliases(second, "staging")
facts |= {
    "moved": plain(weave.ref("policy:production").get())["step"],
    "tags_left": weave.get_tags(first),
    "aliases_left": [sorted(weave.get_aliases(first)), sorted(weave.get_aliases(second))],
    "all_tags_left": sorted(weave.list_tags()),
    "all_aliases_left": sorted(weave.list_aliases()),
}
end(facts)

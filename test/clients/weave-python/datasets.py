"""Datasets of thousands of rows: published in chunks, counted, read in pages, extended, and selected from."""

import weave
from session import begin, end, plain

ROWS = 5000

client = begin()

rows = [
    {"number": number, "word": f"w{number % 10}", "nested": {"half": number / 2, "list": [number, None]}}
    for number in range(ROWS)
]
published = weave.publish(weave.Dataset(name="numbers", description="many", rows=rows))
dataset = published.get()
read = [plain(row) for row in dataset]
facts = {
    "length": len(dataset),
    "description": dataset.description,
    "same_rows": read == rows,
    "one": plain(dataset[4321]),
    "float_kept": repr(dataset[8]["nested"]["half"]),
    "selected": [row["number"] for row in dataset.select([3, 4999, 17])],
    "columns": dataset.columns_names,
    "row_ref": weave.ref(dataset[4999].ref.uri).get()["number"],
}

grown = dataset.add_rows([{"number": -1, "word": "new"}, {"number": -2, "word": "new"}])
latest = weave.ref("numbers").get()
facts |= {
    "grown": len(latest),
    "grown_tail": [plain(row) for row in list(latest)[-2:]],
    "old_stays": len(published.get()),
    "two_versions": len(client._objects(filter={"object_ids": ["numbers"]})),
}

small = weave.publish(weave.Dataset(name="small", rows=[{"a": 1}, {"a": 1}, {"a": 2}])).get()
facts["duplicates_kept"] = [row["a"] for row in small]
edited = weave.publish(weave.Dataset(name="small", rows=[{"a": 5}, *[plain(row) for row in small]])).get()
facts["edited"] = [row["a"] for row in edited]


@weave.op
def use(row: dict) -> int:
    return row["number"] + 1


for row in dataset.select([10, 11]):
    use(row)
client.flush()
facts["calls_on_rows"] = [
    [call.inputs["row"]["number"], call.output] for call in client.get_calls(expand_columns=["inputs.row"])
]
above = {
    "$expr": {"$gt": [{"$convert": {"input": {"$getField": "inputs.row.number"}, "to": "double"}}, {"$literal": 10}]}
}
facts["filtered_through_ref"] = [call.output for call in client.get_calls(query=above, expand_columns=["inputs.row"])]
end(facts)

"""The calls of two functions are traced with weave, and read back. Reads TRAINYARD_URL and TRAINYARD_API_KEY."""

import os

# weave sends calls where wandb's address is. Without it, the SDK sends the key to its vendor's host.
os.environ["WANDB_BASE_URL"] = os.environ["TRAINYARD_URL"]
os.environ["WANDB_API_KEY"] = os.environ["TRAINYARD_API_KEY"]
os.environ["WANDB_ERROR_REPORTING"] = "false"

import weave


@weave.op
def shorten(text: str) -> str:
    return text[:8]


@weave.op
def summarize(text: str) -> str:
    return shorten(text).upper()


client = weave.init("examples")
_, call = summarize.call("the tide is coming in")
client.flush()
for each in client.get_calls(filter={"trace_ids": [call.trace_id]}):
    print(each.op_name.split("/")[-1].split(":")[0], dict(each.inputs), "->", each.output)

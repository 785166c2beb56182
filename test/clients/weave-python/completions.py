"""Completions through the trace server, plain and streamed, and the calls they record. BASE_MODEL names the model."""

import os

from session import begin, end, plain

client = begin()
model = os.environ["BASE_MODEL"]


def inputs(**more: object) -> dict:
    return {
        "model": model,
        "messages": [{"role": "user", "content": "Tell me about the sea."}],
        "max_tokens": 8,
        **more,
    }


def ask(**more: object):
    return client.server.completions_create({"project_id": client.project_id, "inputs": inputs(), **more})


answered = ask()
call = client.get_call(answered.weave_call_id)
untracked = ask(track_llm_call=False)
unknown = client.server.completions_create(
    {"project_id": client.project_id, "inputs": {**inputs(), "model": "no/such/model"}}
)
pieces = list(client.server.completions_create_stream({"project_id": client.project_id, "inputs": inputs()}))
streamed = client.get_call(pieces[0]["_meta"]["weave_call_id"])
text = "".join(choice["delta"].get("content") or "" for piece in pieces[1:] for choice in piece["choices"])
with_variables = client.server.completions_create(
    {
        "project_id": client.project_id,
        "inputs": inputs(
            messages=[{"role": "user", "content": "Tell me about the {what}."}], template_vars={"what": "sea"}
        ),
    }
)
asked_with_variables = client.get_call(with_variables.weave_call_id)
facts = {
    "has_text": bool(plain(answered.response)["choices"][0]["message"]["content"]),
    "op": call.op_name,
    "inputs": {key: plain(call.inputs)[key] for key in ("model", "max_tokens")},
    "same_output": plain(call.output)["choices"] == plain(answered.response)["choices"],
    "usage": list(call.summary["usage"].keys()) == [model] and call.summary["usage"][model]["completion_tokens"] > 0,
    "untracked": untracked.weave_call_id,
    "unknown_model": ["error" in plain(unknown.response), client.get_call(unknown.weave_call_id).exception is not None],
    "streamed": [
        text != "",
        streamed.ended_at is not None,
        plain(streamed.output)["choices"][0]["message"]["content"] == text,
        streamed.summary["weave"]["status"],
    ],
    "variables": plain(asked_with_variables.inputs)["messages"][0]["content"],
    "calls": len(client.get_calls()),
}
end(facts)

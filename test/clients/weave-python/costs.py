"""Prices of models: added, read, chosen by the start times of calls, purged."""

import datetime

import weave
from session import begin, end, plain

client = begin()


@weave.op
def complete(model: str, prompt_tokens: int, completion_tokens: int) -> dict:
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
    return {"model": model, "usage": usage, "choices": []}


@weave.op
def chat(prompt_tokens: int) -> dict:
    return complete("tide-1", prompt_tokens, 10)


def prices_of(call) -> dict | None:
    costs = call.summary["weave"].get("costs")
    if not costs:
        return None
    named = (
        "prompt_tokens",
        "completion_tokens",
        "requests",
        "prompt_tokens_total_cost",
        "completion_tokens_total_cost",
    )
    return {model: {name: round(cost[name], 9) for name in named} for model, cost in plain(costs).items()}


now = datetime.datetime.now(datetime.UTC)
yesterday, last_year, tomorrow = (now - datetime.timedelta(days=days) for days in (1, 365, -1))
ids = [
    client.add_cost("tide-1", 0.5, 2, effective_date=last_year).ids[0][0],
    client.add_cost("tide-1", 0.25, 1, effective_date=yesterday).ids[0][0],
    client.add_cost("tide-1", 100, 100, effective_date=tomorrow).ids[0][0],
    client.add_cost("other", 1, 1, provider_id="someone").ids[0][0],
]
chat(8)
complete("unpriced", 1, 1)
client.flush()

costs = client.query_costs(llm_ids=["tide-1"])
calls = list(client.get_calls(include_costs=True))
facts = {
    "stored": sorted(
        [cost.llm_id, cost.prompt_token_cost, cost.completion_token_cost] for cost in client.query_costs()
    ),
    "of_model": sorted(cost.prompt_token_cost for cost in costs),
    "by_id": [[cost.llm_id, cost.provider_id, cost.prompt_token_cost_unit] for cost in client.query_costs(ids[3])],
    "page": len(client.query_costs(limit=2, offset=3)),
    "prices": [prices_of(call) for call in calls],
    "level": [c["pricing_level"] for call in calls for c in plain(call.summary["weave"].get("costs") or {}).values()],
    "not_asked": [prices_of(call) for call in client.get_calls()],
    "one": prices_of(client.get_call(calls[0].id, include_costs=True)),
}
client.purge_costs(ids[1:2])
facts["after_purge"] = [prices_of(call) for call in client.get_calls(include_costs=True)]
client.purge_costs([ids[0], ids[2], ids[3]])
facts["left"] = len(client.query_costs())
end(facts)

"""An agent's conversation: its spans go to their own address and are accepted."""

import weave
from opentelemetry import trace
from session import begin, end

client = begin()

conversation = weave.start_conversation(agent_name="guide", conversation_id="talk", model="tide-1")
with conversation, weave.start_turn(user_message="Why?"):
    with weave.start_llm(model="tide-1", provider_name="trainyard") as llm:
        llm.output("because")
    with weave.start_tool(name="look", arguments={"at": "sea"}) as tool:
        tool.result = "blue"
flushed = trace.get_tracer_provider().force_flush()
end({"flushed": flushed, "calls": sorted(call.op_name for call in client.get_calls())})

"""Uses models, completions and responses with the openai SDK, unchanged.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_MODEL. Prints the results as a JSON object.
"""

import json
import os

from openai import NotFoundError, OpenAI

model = os.environ["TRAINYARD_MODEL"]
client = OpenAI(base_url=os.environ["TRAINYARD_URL"] + "/v1", api_key=os.environ["TRAINYARD_API_KEY"], max_retries=0)

completion = client.completions.create(model=model, prompt=["The sea", "The sky"], max_tokens=4)
first = client.responses.create(model=model, input="Tell me about the sea.", max_output_tokens=8)

events: list[str] = []
text = ""
# The SDK treats a stream that ends with response.incomplete as failed.
ended = {"structured_outputs": {"choice": ["yes", "no"]}}
with client.responses.stream(model=model, input="More?", previous_response_id=first.id, extra_body=ended) as stream:
    for event in stream:
        events.append(event.type)
        if event.type == "response.output_text.delta":
            text += event.delta
    last = stream.get_final_response()

items = [item.type for item in client.responses.input_items.list(last.id)]
stored = client.responses.retrieve(last.id)
client.responses.delete(last.id)
try:
    client.responses.retrieve(last.id)
    deleted = ""
except NotFoundError as error:
    deleted = type(error).__name__

answer = {
    "model": client.models.retrieve(model).id,
    "completions": len(completion.choices),
    "events": [*events[:2], events[-1]],
    "same_text": text == last.output_text == stored.output_text,
    "items": items,
    "deleted": deleted,
}
print(json.dumps(answer))

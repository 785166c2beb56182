"""A model learns the conversations of a JSONL file: upload, train, chat.

Reads TRAINYARD_URL, TRAINYARD_API_KEY and TRAINYARD_BASE_MODEL. Needs httpx.
"""

import os
import time
from pathlib import Path

import httpx

DATA = Path(__file__).with_name("train.jsonl")
ENDED = ("training_ended", "training_failed")

api = httpx.Client(
    base_url=os.environ["TRAINYARD_URL"],
    headers={"Authorization": f"Bearer {os.environ['TRAINYARD_API_KEY']}"},
    timeout=600,
)


def call(method: str, path: str, **request: object) -> dict:
    """Sends a request. An error says what the server answered."""
    response = api.request(method, path, **request)
    if response.is_error:
        raise SystemExit(f"{method} {path}: {response.status_code} {response.text}")
    return response.json()


def wait_for_end(job_id: str) -> dict:
    """The last event of a job. With wait=30 a request stays open until there is an event after the last seen one."""
    seen: dict[str, str] = {}
    while True:
        page = call("GET", f"/v1/preview/training-jobs/{job_id}/events", params={"wait": 30, **seen})
        for event in page["data"]:
            if event["type"] in ENDED:
                return event
            seen = {"after": event["id"]}


name = f"purple-{int(time.time())}"
model = call(
    "POST",
    "/v1/preview/models",
    json={"project": "examples", "name": name, "base_model": os.environ["TRAINYARD_BASE_MODEL"]},
)
upload = call(
    "PUT",
    f"/v1/preview/artifacts/{model['entity']}/examples/{name}",
    params={"file": DATA.name},
    content=DATA.read_bytes(),
    headers={"Content-Type": "application/jsonl"},
)
job = call(
    "POST",
    "/v1/preview/sft-training-jobs",
    json={
        "model_id": model["id"],
        "training_data_url": upload["address"],
        "config": {"batch_size": 4, "learning_rate": 8e-3},
    },
)
print(f"job {job['id']} trains on {upload['address']}")
end = wait_for_end(job["id"])
if end["type"] != "training_ended":
    raise SystemExit(f"the job failed: {end}")
answer = call(
    "POST",
    "/v1/chat/completions",
    json={
        "model": f"{model['entity']}/examples/{name}",
        "messages": [{"role": "user", "content": "Name a colour."}],
        "temperature": 0,
        "max_completion_tokens": 12,
    },
)
print(f"the model answers: {answer['choices'][0]['message']['content'].strip()}")

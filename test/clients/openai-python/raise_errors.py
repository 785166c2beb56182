"""Provokes errors with the openai SDK, unchanged.

Reads TRAINYARD_URL, and from standard input a JSON list of requests, each with `key`, `path` and `body`. Prints a JSON
list of the SDK's exceptions: the name of the class, the status and the code.
"""

import json
import os
import sys

from openai import APIStatusError, OpenAI


def ask(client: OpenAI, path: str, body: dict[str, object]) -> None:
    if path != "/chat/completions":
        client.post(path, cast_to=object, body=body)
        return
    client.chat.completions.create(**body)  # type: ignore[call-overload]


def describe_error(request: dict[str, object]) -> dict[str, object]:
    client = OpenAI(base_url=os.environ["TRAINYARD_URL"] + "/v1", api_key=request["key"], max_retries=0)
    try:
        ask(client, request["path"], request["body"])
    except APIStatusError as error:
        return {"raised": type(error).__name__, "status": error.status_code, "code": error.code}
    return {"raised": None}


print(json.dumps([describe_error(request) for request in json.load(sys.stdin)]))

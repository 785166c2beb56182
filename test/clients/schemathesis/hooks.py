"""Replaces random ids by ids that exist, because random ones always get a 404.

Reads THINGS: a JSON object of values by the name of a body's member or a path's parameter. Half of the requests keep
their random values.
"""

import json
import os
import random
import re

import schemathesis

THINGS = json.loads(os.environ["THINGS"])
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
NAME = re.compile(".{1,128}", re.DOTALL)
random = random.Random(int(os.environ["TRAINYARD_TEST_SEED"]))


def put_things(values: dict | None) -> dict | None:
    if isinstance(values, dict):
        for name, value in THINGS.items():
            if is_valid(name, values.get(name)) and random.random() < 0.5:
                values[name] = value
    return values


def is_valid(name: str, value: object) -> bool:
    """Values that are invalid on purpose must stay invalid."""
    return isinstance(value, str) and (UUID if name.endswith("_id") else NAME).fullmatch(value) is not None


@schemathesis.hook
def map_query(context, query):
    """Shortens waits: the server waits for an unfinished job's events that long, but the client only ten seconds."""
    if isinstance(query, dict) and is_long(query.get("wait")):
        query["wait"] = 1
    return query


def is_long(wait: object) -> bool:
    """Values that are invalid on purpose must stay invalid: the API accepts up to 60."""
    return isinstance(wait, int | float) and not isinstance(wait, bool) and 1 < wait <= 60


@schemathesis.hook
def map_body(context, body):
    return put_things(body)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return put_things(path_parameters)


@schemathesis.hook
def map_case(context, case):
    """Removes the file name from JSON bodies: with a name the body is a file, and no schema applies to it."""
    is_named = isinstance(case.query, dict) and "file" in case.query
    if is_named and case.media_type == "application/json" and case.operation.path.startswith("/v1/preview/artifacts/"):
        del case.query["file"]
    return case

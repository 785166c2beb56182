"""Puts ids of things that exist where random ones would only ever be answered with 404.

Reads THINGS: a JSON object of values by the name of a body's member or a path's parameter. Half of the requests keep what
was made up.
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
    """What is wrong on purpose must stay wrong."""
    return isinstance(value, str) and (UUID if name.endswith("_id") else NAME).fullmatch(value) is not None


@schemathesis.hook
def map_query(context, query):
    """An unfinished job's events are waited for as long as is asked; the client waits ten seconds for an answer."""
    if isinstance(query, dict) and is_long(query.get("wait")):
        query["wait"] = 1
    return query


def is_long(wait: object) -> bool:
    """What is wrong on purpose must stay wrong: the API takes up to 60."""
    return isinstance(wait, int | float) and not isinstance(wait, bool) and 1 < wait <= 60


@schemathesis.hook
def map_body(context, body):
    return put_things(body)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return put_things(path_parameters)


@schemathesis.hook
def map_case(context, case):
    """A JSON body that is named as a file is a file, whatever is in it: then no schema holds for it."""
    is_named = isinstance(case.query, dict) and "file" in case.query
    if is_named and case.media_type == "application/json" and case.operation.path.startswith("/v1/preview/artifacts/"):
        del case.query["file"]
    return case

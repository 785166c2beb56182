"""Walks lists with the cursor code of the openai SDK, unchanged.

Reads TRAINYARD_URL and TRAINYARD_API_KEY, and the paths of lists from its arguments. Prints the ids of each list as a
JSON object. Each page has one item.
"""

import json
import os
import sys

from openai import BaseModel, OpenAI
from openai.pagination import SyncCursorPage


class Item(BaseModel):
    id: str


client = OpenAI(base_url=os.environ["TRAINYARD_URL"] + "/v1", api_key=os.environ["TRAINYARD_API_KEY"], max_retries=0)


def walk(path: str) -> list[str]:
    page = client.get_api_list(path, page=SyncCursorPage[Item], model=Item, options={"params": {"limit": 1}})
    return [item.id for item in page]


print(json.dumps({path: walk(path) for path in sys.argv[1:]}))

"""Drops the collections of Milvus whose names begin with a prefix: drop_collections.py HOST:PORT PREFIX"""

import json
import sys
from urllib.request import Request, urlopen

base = f"http://{sys.argv[1]}/v1/vector/collections"
for name in json.load(urlopen(base))["data"]:
    if name.startswith(sys.argv[2]):
        body = json.dumps({"collectionName": name}).encode()
        answer = json.load(urlopen(Request(f"{base}/drop", body, {"Content-Type": "application/json"})))
        if answer["code"] != 200:
            sys.exit(f"the collection {name} could not be dropped: {answer.get('message')}")

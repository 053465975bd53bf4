"""Imports memories of several days and domains, and compares the analyst's report with them."""

import csv
import json
import os
import subprocess
import sys
import time
import urllib.request
from datetime import datetime, timedelta, timezone

from old_memories import import_old

MEMORIES = [("user_preferences", "Likes tea."), ("user_preferences", "Likes, \"really\" likes, 茶."),
            ("lifestyle_and_interests", "Keeps bees.")]


def post(path, **body):
    headers = {"Authorization": "Bearer " + os.environ["COMPAT_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["COMPAT_URL"] + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def ago(days):
    return (datetime.now(timezone.utc) - timedelta(days=days)).isoformat(timespec="seconds")


def report():
    """Returns the rows of the CSV, and the line that the report prints."""
    arguments = ["--milvus", f"http://{os.environ['MILVUS_HOST']}:{os.environ['MILVUS_PORT']}", "--out", "report",
                 "--collection", os.environ["MILVUS_MEMORY_COLLECTION"], "--database", os.environ["DATABASE_URL"]]
    done = subprocess.run([sys.executable, sys.argv[1], *arguments], check=True, stdout=subprocess.PIPE, text=True)
    with open("report/memories.csv", newline="") as file:
        return [tuple(row.values()) for row in csv.DictReader(file)], done.stdout


for days, (domain, content) in enumerate(MEMORIES):
    import_old("analyst", content, ago(40 + 10 * days), ago(5 + 10 * days), domain)
deadline = time.monotonic() + 60
while True:  # the vector store follows the database
    rows, line = report()
    if all((domain, "fact", content) in rows for domain, content in MEMORIES):
        break
    assert time.monotonic() < deadline, rows
    time.sleep(0.5)
assert rows == sorted(rows) and int(line.split()[0]) == len(rows), line
# The report computes retention as the server does. Each memory is of another day.
with open("report/retention.csv", newline="") as file:
    reported = sorted(float(row["retention"]) for row in csv.DictReader(file) if row["memories"] == "1")
computed = sorted(memory["retention"] for memory in post("/v1/forget", user_id="analyst", dry_run=True)["memories"])
assert len(computed) == len(reported) == len(MEMORIES), (computed, reported)
for one, other in zip(computed, reported):
    assert abs(one - other) < 0.001, (computed, reported)
for picture in ("domains.png", "retention.png"):
    with open("report/" + picture, "rb") as file:
        head = file.read(24)
    width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and width == 960 and height in (480, 720), (picture, width, height)

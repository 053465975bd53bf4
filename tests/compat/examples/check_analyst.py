"""Imports memories of several days and domains, and compares the analyst's report with them."""

import csv
import json
import os
import subprocess
import sys
import time
import urllib.request
from datetime import datetime, timedelta, timezone

import psycopg
from old_memories import import_old

KEPT = "Has an allergy to nuts."
# Of each user: the active days before today, and memories with how many days ago they were created and changed.
USERS = {
    "analyst": ([3, 4, 12, 13, 14, 30], [
        (40, 5, {"domain": "user_preferences", "content": "Likes tea."}),
        (50, 15, {"domain": "user_preferences", "content": "Likes, \"really\" likes, 茶."}),
        (60, 25, {"domain": "lifestyle_and_interests", "content": "Keeps bees."}),
        (61, 25, {"domain": "lifestyle_and_interests", "content": KEPT, "importance": 0.9}),
        (62, 25, {"content": "Is asked by the cook.", "agent_id": "cook"}),
        (63, 25, {"content": "Is asked by an agent without days.", "agent_id": "butler", "access_count": 2}),
    ]),
    "absent": ([380], [(390, 385, {"content": "Was here a year ago."}), (379, 372, {"content": "Came by import."})]),
}
RULE = {"clock": "active"}  # the default, which scripts/compat changes


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


with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    for user, (active, memories) in USERS.items():
        for created, changed, fields in memories:
            import_old(user, fields.pop("content"), ago(created), ago(changed), **fields)
        today = int(time.time()) // 86400
        connection.cursor().executemany(
            "INSERT INTO active_days SELECT app_id, %s, %s, %s FROM agent_memories LIMIT 1",
            [(user, "", today - day) for day in active] + [(user, "cook", today - day) for day in active[:2]])
expected = {user: post("/v1/forget", user_id=user, rule=RULE)["memories"] for user in USERS}
contents = [m["content"] for memories in expected.values() for m in memories]
deadline = time.monotonic() + 60
while True:  # the vector store follows the database
    rows, line = report()
    if set(contents) <= {content for _, _, content in rows}:
        break
    assert time.monotonic() < deadline, rows
    time.sleep(0.5)
assert rows == sorted(rows) and int(line.split()[0]) == len(rows), line
assert ("user_preferences", "fact", "Likes, \"really\" likes, 茶.") in rows, rows
# The report computes retention as the server does. Each memory is of another day.
with open("report/retention.csv", newline="") as file:
    reported = [row for row in csv.DictReader(file) if int(row["fading"]) + int(row["kept"]) == 1]
kept = [row["kept"] for row in reported if row["retention"] == ""]
retentions = sorted(float(row["retention"]) for row in reported if row["retention"])
computed = sorted(m["retention"] for memories in expected.values() for m in memories if m["content"] != KEPT)
assert kept == ["1"] and len(computed) == len(retentions) == 7, (computed, reported)
for one, other in zip(computed, retentions):
    assert abs(one - other) < 0.001, (computed, retentions)
assert max(computed) - min(computed) > 0.2, computed
for picture in ("domains.png", "retention.png"):
    with open("report/" + picture, "rb") as file:
        head = file.read(24)
    width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and width == 960 and height in (480, 720), (picture, width, height)

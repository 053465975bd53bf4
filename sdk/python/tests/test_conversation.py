"""The scripted conversation that gives the same memories through every client."""

from __future__ import annotations

import json
from typing import Any

from conftest import ROOT

SCRIPT = json.loads((ROOT / "sdk" / "testdata" / "conversation.json").read_text())
TYPES = ["fact", "preference", "pattern", "skill", "project", "reflection", "summary", "task", "decision", "insight"]


def test_conversation_gives_the_scripted_memories(client: Any, user: str) -> None:
    for turn in SCRIPT["turns"]:
        answer = client.add_turn(user_id=user, wait=True, **turn)
        assert answer.status == "processed", answer
    listed = client.memories(user_id=user, type=TYPES, status=["active", "superseded"], limit=3)
    got = [{"type": m.type, "content": m.content, "status": m.status} for m in listed]
    assert sorted(got, key=str) == sorted(SCRIPT["memories"], key=str)
    for query in SCRIPT["queries"]:
        asked = {name: value for name, value in query.items() if name != "first"}
        answer = client.recall(user_id=user, **asked)
        assert answer.memories[0].content == query["first"], (query, answer)

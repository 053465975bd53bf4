"""The methods of the client against the built server."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

import hippocampus_memory as sdk
from hippocampus_memory import models

NOW = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
GONE = "0198c0de-0000-7000-8000-000000000001"


def said(words: str) -> Any:
    return [{"role": "user", "content": words}]


def test_memory_lives_through_every_method(client: Any, user: str) -> None:
    tagged: Any = {"tags": ["home"], "metadata": {"from": "test"}}
    written = client.remember(user_id=user, content="Lives in Lisbon.", at=NOW, **tagged)
    assert written.created_at == NOW
    assert (written.verdict, written.metadata, written.tags) == ("kept", {"from": "test"}, ["home"])
    again = client.remember(user_id=user, content="Lives in Lisbon.", dedup=True)
    assert (again.id, again.verdict) == (written.id, "duplicate")

    assert client.update(written.id, content="Lives in Porto.").content == "Lives in Porto."
    assert client.pin(written.id).pinned is True
    assert client.unpin(written.id).pinned is False
    answer = client.recall(user_id=user, query="Where does she live?", filter={"metadata": {"from": "test"}})
    assert [m.id for m in answer.memories] == [written.id]
    assert "Lives in Porto." in client.context(user_id=user, query="Where does she live?", max_chars=2000).text

    assert client.forget(written.id).status == "forgotten"
    assert client.recall(user_id=user, query="Where does she live?").memories == []
    with pytest.raises(sdk.ConflictError, match="restore it before changing it"):
        client.update(written.id, importance=0.9)
    assert client.restore(written.id).status == "active"
    kinds = [event.kind for event in client.history(written.id)]
    assert kinds[:3] == ["created", "merged", "updated"]  # merged: it was said again
    assert kinds[-2:] == ["forgotten", "restored"]
    assert client.memory(written.id).content == "Lives in Porto."


def test_turn_is_reported_once_under_its_id(client: Any, user: str) -> None:
    turn: Any = {"user_id": user, "conversation_id": "c/1 é", "messages": said("I live in Lisbon."), "at": NOW}
    first = client.add_turn(id=f"{user}-1", wait=True, **turn)
    again = client.add_turn(id=f"{user}-1", wait=True, **turn)
    assert (again.id, again.repeated, first.repeated) == (first.id, True, None)
    alone = {name: value for name, value in turn.items() if name != "conversation_id"}
    assert client.add_turn(**alone).client_id != client.add_turn(**alone).client_id
    shown = client.turn(first.id)
    assert shown.at == NOW
    assert [message.content for message in shown.messages] == ["I live in Lisbon."]
    assert {candidate.verdict for candidate in shown.candidates} == {"kept"}
    assert len(list(client.turns(user_id=user, limit=2))) == 3

    (conversation,) = client.conversations(user_id=user)
    assert (conversation.id, conversation.state) == ("c/1 é", "open")
    ended = client.end_conversation("c/1 é", user_id=user, wait=True)
    assert ended.conversation.state == "ended"
    assert client.consolidate("c/1 é", user_id=user, mode="fast").conversation.id == "c/1 é"


def test_facts_have_a_timeline(client: Any, user: str) -> None:
    home: Any = {"user_id": user, "type": "profile", "key": "city"}
    client.state_fact(**home, value="Lisbon", valid_from=NOW)
    moved = client.state_fact(**home, value={"city": "Porto", "sure": 0.5}, valid_from=NOW + timedelta(days=30))
    assert moved.replaced.value == "Lisbon"
    assert [fact.value for fact in client.facts(user_id=user)] == [{"city": "Porto", "sure": 0.5}]
    assert [fact.value for fact in client.facts(user_id=user, at=NOW + timedelta(days=1))] == ["Lisbon"]
    client.end_fact(**home)
    assert list(client.facts(user_id=user)) == []


def test_pages_hold_every_item_once(client: Any, user: str) -> None:
    ids = {client.remember(user_id=user, content=f"Fact number {number}.").id for number in range(7)}
    for limit in (1, 3, 7, 100):
        listed = [memory.id for memory in client.memories(user_id=user, limit=limit)]
        assert len(listed) == 7, limit
        assert set(listed) == ids
    assert next(iter(client.memories(user_id=user, limit=2))).id in ids
    assert user in {entry.user_id for entry in client.users(limit=1)}


def imported(server: Any, user: str, content: str, at: str) -> str:
    """Imports a memory that was last changed at an instant, and returns its id."""
    memory: dict[str, Any] = {"id": str(uuid.uuid4()), "user_id": user, "content": content, "type": "fact"}
    memory |= {"domain": "general_chat", "tags": [], "importance": 0.3, "pinned": False, "status": "active"}
    memory |= {"created_at": at, "updated_at": at, "last_accessed_at": at, "access_count": 0}
    head = {"format": "hippocampus-export", "version": 1, "exported_at": at}
    lines = [head, {"memory": memory, "events": [], "relations": []}, {"end": {"memories": 1}}]
    stream = "".join(json.dumps(line) + "\n" for line in lines)
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/x-ndjson"}
    answer = httpx.post(f"{server.url}/v1/import", content=stream, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(memory["id"])


def test_maintenance_is_previewed_and_run(client: Any, server: Any, user: str) -> None:
    client.add_turn(user_id=user, messages=said("I saw a film yesterday."), wait=True)
    for number in range(9):  # so that what has faded is a small share
        client.remember(user_id=user, content=f"Fact number {number}.")
    old = imported(server, user, "Is late today.", "2020-01-01T00:00:00Z")
    assert old in {memory.id for memory in client.forget_preview(user_id=user).memories}
    assert client.memory(old).status == "active"
    assert client.forget_run(user_id=user).forgotten == [old]
    assert client.stats(user_id=user).user.user_id == user
    refused = [candidate.id for candidate in client.candidates(user_id=user) if candidate.verdict != "kept"]
    assert refused
    assert client.promote(ids=refused).results[0].candidate_id == refused[0]
    for condense in (client.reflect, client.compress):
        with pytest.raises(sdk.ConflictError, match="needs a chat model"):
            condense(user_id=user)
    receipt = client.erase_user(user)
    assert receipt.verified is True
    assert list(client.memories(user_id=user)) == []


def test_fields_that_are_none_are_left_out(client: Any, user: str) -> None:
    turn = client.add_turn(id=None, user_id=user, agent_id=None, messages=said("I live in Lisbon."), wait=True)
    assert turn.client_id
    client.remember(user_id=user, content="Plays the cello.", type=None, tags=None)
    assert len(list(client.memories(user_id=user, agent_id=None, limit=None))) > 1
    assert client.recall(user_id=user, query="Where does she live?", agent_id=None, limit=None).memories
    stated = client.state_fact(user_id=user, type="profile", key="car", value=None, valid_from=None)
    assert stated.fact.value is None


def test_any_listing_is_iterated(client: Any, user: str) -> None:
    for name in ("booking", "cooking", "driving"):
        outcome = {"user_id": user, "success": True, "workflow": "Ask first."}
        client.request(models.RecordedOutcome, "POST", f"/v1/skills/{name}/outcomes", body=outcome)
    listed = client.items(models.SkillPage, "/v1/skills", {"user_id": user, "limit": 2})
    assert {skill.name for skill in listed} == {"booking", "cooking", "driving"}
    client.add_turn(user_id=user, conversation_id="c", messages=said("Hello."))
    (turn,) = client.items(models.ConversationTurns, "/v1/conversations/c", {"user_id": user})
    assert turn.messages[0].content == "Hello."
    with pytest.raises(TypeError, match="is not the model of a page"):
        list(client.items(models.Readiness, "/readyz"))
    assert client.ready().status == "ready"


def test_every_other_route_is_a_request(client: Any, user: str) -> None:
    outcome = {"user_id": user, "success": True, "workflow": "Call, then write."}
    client.request(models.RecordedOutcome, "POST", "/v1/skills/booking/outcomes", body=outcome)
    page = client.request(models.SkillPage, "GET", "/v1/skills", query={"user_id": user})
    assert [skill.name for skill in page.skills] == ["booking"]
    client.remember(user_id=user, content="Lives in Lisbon.")
    file = client.send("GET", "/v1/files/memory.md", query={"user_id": user})
    assert "Lives in Lisbon." in file.text
    unchanged = {"If-None-Match": file.headers["ETag"]}
    assert client.send("GET", "/v1/files/memory.md", query={"user_id": user}, headers=unchanged).status_code == 304
    text, kind = file.text.replace("Lisbon", "Porto").encode(), {"Content-Type": "text/markdown"}
    client.send("PUT", "/v1/files/memory.md", query={"user_id": user}, content=text, headers=kind)
    assert "Porto" in client.request(str, "GET", "/v1/files/memory.md", query={"user_id": user})


def test_errors_name_what_is_wrong(client: Any, server: Any, user: str) -> None:
    with pytest.raises(sdk.NotFoundError) as missing:
        client.memory(GONE)
    assert (missing.value.kind, missing.value.status) == ("not_found", 404)
    assert missing.value.request_id
    with pytest.raises(sdk.InvalidError) as invalid:
        client.recall(user_id=user, query="x", limit=1000)
    assert [field.path for field in invalid.value.errors] == ["limit"]
    with pytest.raises(ValueError, match="has no time zone"):
        client.remember(user_id=user, content="x", at=datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="cannot be a part of the path"):
        client.forget("")
    stranger = sdk.Hippocampus(server.url, "wrong")
    with pytest.raises(sdk.UnauthorizedError):
        stranger.stats()
    stranger.close()

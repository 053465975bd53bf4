"""Turns that are taken back, conversations, many memories at once, and users, against the built server."""

from __future__ import annotations

from typing import Any

import pytest

import hippocampus_memory as sdk


def said(words: str) -> Any:
    return [{"role": "user", "content": words}]


def stated(client: Any, user: str) -> list[str]:
    return sorted(memory.content for memory in client.memories(user_id=user) if memory.type != "message")


def test_turn_is_replaced_and_withdrawn(client: Any, user: str) -> None:
    turn: Any = {"user_id": user, "conversation_id": user, "wait": True}
    first = client.add_turn(messages=said("I live in Lisbon."), **turn)
    edited = client.add_turn(messages=said("I live in Porto."), replaces=first.id, **turn)
    assert stated(client, user) == ["I live in Porto."]
    withdrawn = client.withdraw_turn(edited.id)
    assert (withdrawn.status, bool(withdrawn.effects)) == ("withdrawn", True)
    assert stated(client, user) == []
    with pytest.raises(sdk.ConflictError):
        client.replay_turn(edited.id)


def test_conversation_is_shown_renamed_and_deleted(client: Any, user: str) -> None:
    texts = ["I live in Lisbon.", "I prefer green tea.", "I work as a marine biologist."]
    for text in texts:
        client.add_turn(user_id=user, conversation_id="c/1 é", messages=said(text), wait=True)
    turns = client.conversation_turns("c/1 é", user_id=user, limit=2)
    assert [turn.messages[0].content for turn in turns] == texts
    assert client.rename_conversation("c/1 é", "Tea", user_id=user).title == "Tea"
    assert client.set_conversation(user, "c/1 é", memory="read").memory == "read"
    assert client.delete_conversation("c/1 é", user_id=user, memories="forget").turns == 3
    assert stated(client, user) == []


def test_many_are_written_forgotten_and_restored(client: Any, user: str) -> None:
    wanted: Any = [{"user_id": user, "content": text, "tags": None} for text in ("Lives in Lisbon.", "", "Likes tea.")]
    first, refused, last = client.remember_many(wanted)
    assert [field.path for field in refused.error.errors] == ["content"]
    ids = [first.id, last.id]
    assert len(client.forget_many(ids=ids, dry_run=True).results) == 2
    assert stated(client, user) == ["Likes tea.", "Lives in Lisbon."]
    client.forget_many(ids=ids)
    assert stated(client, user) == []
    assert [result.id for result in client.restore_many(ids=ids).results] == ids
    assert stated(client, user) == ["Likes tea.", "Lives in Lisbon."]
    with pytest.raises(sdk.ConflictError):
        client.undo(first.id)


def test_user_has_a_zone_and_a_profile(client: Any, user: str) -> None:
    for text in ("Lives in Lisbon.", "Is allergic to peanuts."):
        client.remember(user_id=user, content=text)
    assert client.set_user(user, time_zone="Asia/Shanghai").zone == "Asia/Shanghai"
    kept = client.user(user)
    assert (kept.memories["active"], kept.time_zone) == (2, "Asia/Shanghai")
    assert len(client.profile(user, limit=1).memories) == 1


def test_fact_has_its_evidence(client: Any, user: str) -> None:
    for city in ("Lisbon", "Porto"):
        client.state_fact(user_id=user, type="profile", key="home_city", value=city)
    evidence = client.fact_history(user_id=user, type="profile", key="home_city", limit=1)
    assert [fact.value for fact in evidence] == ["Lisbon", "Porto"]

"""Exports, imports and events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import Server, made
from faulty import FaultyServer
from relay import Relay

import hippocampus_memory as sdk
from hippocampus_memory._wire import EventReader, Splitter

# JSON may contain these; splitlines() would split at them.
SEPARATORS = "Likes\u0085tea,\u2028music\u2029and\x0brain."


def test_export_and_import_are_a_round_trip(client: Any, user: str, form: str, server: Server) -> None:
    memory = client.remember(user_id=user, content=SEPARATORS, metadata={"n": 1.5})
    client.state_fact(user_id=user, type="profile", key="city", value="Lisbon")
    lines = list(client.export(user_id=user, embeddings=True))
    assert all(line.endswith(b"\n") and json.loads(line) for line in lines)
    assert "end" in json.loads(lines[-1])

    same = client.import_(lines)
    assert (same.imported, same.failed, same.complete) == (0, 0, True)
    client.erase_user(user)
    report = client.import_(line.rstrip(b"\n") for line in lines)
    assert (report.failed, report.complete) == (0, True), report
    assert client.memory(memory.id).content == SEPARATORS
    again = list(client.export(user_id=user, embeddings=True))
    assert [json.loads(line) for line in again[1:]] == [json.loads(line) for line in lines[1:]]


def test_export_that_breaks_off_states_why(form: str) -> None:
    for answer, why in (
        ({"status": 200, "stream": '{"memory":{}}\n'}, "broke off: it has no line `end`"),
        ({"status": 200, "stream": '{"error":"the database is unavailable"}\n'}, "the database is unavailable"),
        ({"status": 200, "html": True}, "is text/html and not application/x-ndjson"),
    ):
        lines: list[bytes] = []
        with FaultyServer([answer]) as server:
            client = made(form, server.url, "")
            with pytest.raises(sdk.BadAnswerError, match=why):
                lines.extend(client.export(user_id="ada"))
            client.close()
        assert len(lines) == why.startswith("broke off")


def test_events_of_unknown_kinds_are_left_out(form: str) -> None:
    known = {
        "id": "1.2", "kind": "turn.failed", "at": "2026-01-31T08:00:00Z", "app_id": "a", "user_id": "ada",
        "data": {"turn_id": "0198c0de-0000-7000-8000-000000000001", "attempts": 3, "error": "the model is unavailable"},
    }  # fmt: skip
    unknown = {"id": "1.1", "kind": "turn.dreamed", "data": {}}
    stream = "".join(f"id: {e['id']}\nevent: {e['kind']}\ndata: {json.dumps(e)}\n\n" for e in (unknown, known))
    wrong = 'id: 1.3\nevent: turn.failed\ndata: {"kind": "turn.failed"}\n\n'
    with FaultyServer([{"status": 200, "stream": stream + wrong}]) as server:
        client = made(form, server.url, "")
        events = client.events()
        assert next(events).id == "1.2"
        with pytest.raises(sdk.BadAnswerError, match="an event is not what"):
            next(events)
        client.close()


def test_events_resume_after_a_cut(client: Any, user: str, form: str, server: Server) -> None:
    first = client.remember(user_id=user, content="Lives in Lisbon.")
    place = next(iter(client.events(user_id=user, after="0"))).id
    relay = Relay(server.url)
    follower = made(form, relay.url, server.key, sleep=lambda seconds: None)
    events = follower.events(user_id=user, after=place)
    written = [client.remember(user_id=user, content=f"Fact number {number}.").id for number in range(3)]
    assert next(events).data.memory_id == written[0]
    relay.cut()
    written.append(client.remember(user_id=user, content="Written during the cut.").id)
    got = [next(events) for _ in range(3)]
    assert [event.data.memory_id for event in got] == written[1:]
    assert {event.kind for event in got} == {"memory.written"}
    assert first.id not in written
    assert relay.connections == 2
    events.close()
    follower.close()
    relay.close()


def test_events_end_with_an_error_that_stays(client: Any, form: str, server: Server) -> None:
    with FaultyServer([{"status": 401, "kind": "unauthorized"}]) as faulty:
        refused = made(form, faulty.url, "")
        with pytest.raises(sdk.UnauthorizedError):
            next(iter(refused.events()))
        refused.close()
    with FaultyServer([{"cut": True}]) as faulty:
        waits: list[float] = []
        unreachable = made(form, faulty.url, "", sleep=waits.append)
        with pytest.raises(sdk.UnreachableError):
            next(iter(unreachable.events()))
        unreachable.close()
        assert len(faulty.bodies) == 3
        assert len(waits) == 2


def test_events_of_another_database_begin_with_a_reset(client: Any, user: str) -> None:
    client.remember(user_id=user, content="Lives in Lisbon.")
    event = next(iter(client.events(user_id=user, after="999999999999999999.1")))
    assert isinstance(event, sdk.Reset)
    assert event.after == "999999999999999999.1"


def test_reader_assembles_events_from_any_chunks() -> None:
    stream = (
        b"retry: 2000\nid: 7\n\n: still here\nid: 8\n\nid: 9\nevent: a\ndata: {\ndata: }\r\n\n" + b"id: 10\ndata: cut"
    )
    for size in (1, 2, 5, 1000):
        splitter, reader, events = Splitter(), EventReader(), []
        for start in range(0, len(stream), size):
            for line in splitter.feed(stream[start : start + size]):
                if event := reader.feed(line):
                    events.append(event)
        assert events == [("a", "{\n}")]
        assert reader.last_id == "9"  # event 10 is not complete
        assert splitter.rest() == b"data: cut"

"""Calls every method of mem0's Python clients, blocking and async, and compares the results with those of /v1."""

import asyncio
import inspect
import json
import logging
import os
import subprocess
import time
import urllib.request

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError

URL = os.environ["COMPAT_URL"]
HOST = URL + "/mem0"
USER = "py/ada"
FILTERS = {"user_id": USER}

# Methods that main calls, and what else a client has.
OFFERED = {
    "add", "search", "get_all", "get", "update", "delete", "delete_all", "history", "users", "delete_users", "reset",
    "batch_update", "batch_delete", "feedback",
}
PROJECT = {
    "project.get": ([], {}), "project.create": (["new"], {}), "project.update": ([], {"custom_instructions": "x"}),
    "project.delete": ([], {}), "project.get_members": ([], {}), "project.add_member": (["a@b.c"], {}),
    "project.update_member": (["a@b.c", "READER"], {}), "project.remove_member": (["a@b.c"], {}),
    "get_project": ([], {}), "update_project": ([], {"custom_instructions": "x"}),
}
NOT_OFFERED = {  # what the refusal names -> method -> arguments
    "GET /v1/export": {
        "create_memory_export": ([], {"schema": "{}", "filters": FILTERS}), "get_memory_export": ([], {"user_id": USER}),
    },
    "POST /v1/context": {"get_summary": ([FILTERS], {})},
    "GET /v1/facts": {
        "get_profile": ([USER], {}), "generate_profile": ([USER], {}), "get_profile_settings": ([], {}),
        "update_profile_settings": ([], {"enabled": True}), "sample_profiles": ([], {"limit": 1}),
        "get_profile_job": (["job"], {}),
    },
    "POST /v1/webhooks": {
        "get_webhooks": (["p"], {}), "create_webhook": (["https://a.example", "hook", "p", ["memory:add"]], {}),
        "update_webhook": ([1], {"name": "hook"}), "delete_webhook": ([1], {}),
    },
    "hippocampus key create": PROJECT,
}
LOCAL = {"chat"}  # raises NotImplementedError without a request

logging.disable(logging.ERROR)  # the client logs every refusal that is asked for below


def v1(method, path, body=None, key=os.environ["COMPAT_KEY"]):
    """Returns the answer of the server's own API."""
    request = urllib.request.Request(
        URL + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + key, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def fails(kind, call, *arguments, **options):
    """Returns the error that a call must fail with."""
    try:
        result = call(*arguments, **options)
    except kind as error:
        return str(error)
    raise AssertionError(f"the call succeeds: {result}")


class Blocking:
    """The async client, or a part of it, with methods that wait for their results."""

    loop = asyncio.new_event_loop()

    def __init__(self, of):
        self.of = of

    def __getattr__(self, name):
        value = getattr(self.of, name)
        if name == "project":
            return Blocking(value)
        if not callable(value):
            return value

        def call(*arguments, **options):
            result = value(*arguments, **options)
            return self.loop.run_until_complete(result) if inspect.isawaitable(result) else result

        return call


def blocking(**options):
    return Blocking(AsyncMemoryClient(**options))


def methods(of):
    return {name for name, _ in inspect.getmembers(of, callable) if not name.startswith("_")}


def complete(kind, client):
    """Fails for a method of the client that is not called in this file, and calls the methods that are not offered."""
    named = {name: (route, *arguments) for route, of in NOT_OFFERED.items() for name, arguments in of.items()}
    has = methods(kind) | {"project." + name for name in methods(getattr(client.project, "of", client.project))}
    assert has == OFFERED | named.keys() | LOCAL, has ^ (OFFERED | named.keys() | LOCAL)
    for name, (route, arguments, options) in named.items():
        of = client
        for part in name.split("."):
            of = getattr(of, part)
        text = fails(Exception, of, *arguments, **options)
        assert route in text and "not offered here" in text, (name, text)
    for name in LOCAL:
        fails(NotImplementedError, getattr(client, name))


def same(shown, memory):
    """Compares a memory in mem0's form with that of /v1."""
    for name, of in {"id": "id", "memory": "content", "user_id": "user_id", "categories": "tags",
                     "created_at": "created_at", "updated_at": "updated_at"}.items():
        assert shown[name] == memory[of], (name, shown, memory)
    for name, of in {"agent_id": "agent_id", "run_id": "conversation_id", "metadata": "metadata"}.items():
        assert shown[name] == memory.get(of), (name, shown, memory)


def add(client):
    """Returns the ids of two memories that were stored as they are."""
    added = client.add(
        [{"role": "user", "content": "Likes green tea."}, {"role": "assistant", "content": "Lives in Lisbon."}],
        user_id=USER, agent_id="tutor", run_id="chat-1", metadata={"my_key": 1, "Other": "x"}, infer=False,
    )
    assert added["status"] == "SUCCEEDED" and len(added["results"]) == 2, added
    return [result["id"] for result in added["results"]]


def infer(client):
    """Sends messages through the gate and waits for what becomes of them."""
    added = client.add([{"role": "user", "content": "I work as a nurse."}], user_id="py-gate")
    assert added["status"] == "PENDING", added
    while True:
        event = v1("GET", f"/mem0/v1/event/{added['event_id']}/")
        if event["status"] == "SUCCEEDED":
            break
        assert event["status"] in ("PENDING", "RUNNING"), event
        time.sleep(0.05)
    kept = [c["memory_id"] for c in v1("GET", "/v1/turns/" + added["event_id"])["candidates"] if c["verdict"] == "kept"]
    assert kept and [result["id"] for result in event["results"]] == kept, event
    same(client.get(kept[0]), v1("GET", "/v1/memories/" + kept[0]))


def imported(make, client):
    """Takes the memories over to another app, twice."""
    add(client)
    memories = client.get_all(filters=FILTERS)
    file = os.path.join(os.environ["COMPAT_DIR"], "mem0.json")
    with open(file, "w", encoding="utf-8") as to:
        json.dump(memories, to)
    key = os.environ["COMPAT_OTHER_KEY"]
    for new in (2, 0):
        out = subprocess.run(
            [os.environ["COMPAT_BINARY"], "import", "--from", "mem0", file, "--url", URL],
            env={**os.environ, "HIPPOCAMPUS_KEY": key}, check=True, capture_output=True, text=True,
        ).stdout
        assert out == f"imported {new} memories, {2 - new} that others hold already\n", out
    moved = v1("GET", "/v1/memories?user_id=py%2Fada", key=key)["memories"]
    for shown, memory in zip(memories["results"], moved, strict=True):
        shown["id"], shown["updated_at"] = memory["id"], memory["updated_at"]
        same(shown, memory)
    client.delete_all(user_id=USER)
    make(api_key=key, host=HOST).delete_all(user_id=USER)


def main(kind, make):
    client = make(api_key=os.environ["COMPAT_KEY"], host=HOST)
    tea, home = add(client)
    for memory_id in (tea, home):
        same(client.get(memory_id), v1("GET", "/v1/memories/" + memory_id))
    infer(client)

    query = "Where does she live?"
    found = client.search(query, filters=FILTERS, top_k=5, threshold=0.2, rerank=True)["results"]
    recalled = v1("POST", "/v1/recall", {"user_id": USER, "query": query, "limit": 5, "min_confidence": 0.2})["memories"]
    assert found and [m["id"] for m in found] == [m["id"] for m in recalled], (found, recalled)
    for shown, memory in zip(found, recalled):
        same(shown, memory)
        assert abs(shown["score"] - memory["confidence"]) < 0.01 and 0 <= shown["score"] <= 1, (shown, memory)
    assert found[0]["id"] == home, found

    listed = client.get_all(filters=FILTERS)
    memories = v1("GET", "/v1/memories?user_id=py%2Fada")["memories"]
    assert listed["count"] == 2 and listed["next"] is None, listed
    for shown, memory in zip(listed["results"], memories, strict=True):
        same(shown, memory)
    part = client.search(query, filters=FILTERS, fields=["memory", "score"])["results"][0]
    assert part.keys() == {"id", "memory", "score"} and part["id"] == home, part
    assert "latest_only" in fails(ValidationError, client.search, query, filters=FILTERS, latest_only=False)
    page = client.get_all(filters=FILTERS, page=2, page_size=1)
    assert [m["id"] for m in page["results"]] == [memories[1]["id"]] and page["previous"], page
    for filters, count in (
        ({"AND": [FILTERS, {"agent_id": "tutor"}, {"run_id": "*"}]}, 2),
        ({"AND": [FILTERS, {"OR": [{"memory_ids": [tea]}, {"keywords": {"icontains": "LISBON"}}]}]}, 2),
        ({"AND": [FILTERS, {"NOT": [{"keywords": {"icontains": "lisbon"}}]}]}, 1),
        ({**FILTERS, "metadata": {"my_key": 1, "Other": {"ne": "y"}}}, 2),
        ({**FILTERS, "created_at": {"gte": "2020-01-01", "lt": "2021-01-01T00:00:00Z"}}, 0),
        ({**FILTERS, "categories": {"in": ["work"]}}, 0),
        ({"user_id": {"in": [USER, "nobody"]}}, 2),
    ):
        assert client.get_all(filters=filters)["count"] == count, filters
    assert "expiration_date" in fails(ValidationError, client.get_all, filters={**FILTERS, "expiration_date": "2030-01-01"})
    assert "user_id" in fails(ValidationError, client.search, query, filters={"agent_id": "tutor"})

    same(client.update(tea, text="Likes coffee.", metadata={"n": 2}), v1("GET", "/v1/memories/" + tea))
    assert v1("GET", "/v1/memories/" + tea)["content"] == "Likes coffee."
    history = client.history(tea)
    assert [(e["event"], e["old_memory"], e["new_memory"]) for e in history] == [
        ("ADD", None, "Likes green tea."), ("UPDATE", "Likes green tea.", "Likes coffee."),
    ], history
    client.batch_update([{"memory_id": tea, "text": "Likes black tea."}, {"memory_id": home, "text": "Lives in Porto."}])
    assert v1("GET", "/v1/memories/" + home)["content"] == "Lives in Porto."
    client.feedback(tea, feedback="POSITIVE", feedback_reason="true")
    assert v1("GET", "/v1/memories/" + tea)["metadata"]["feedback"] == "POSITIVE"

    assert "deleted" in client.delete(tea)["message"]
    assert v1("GET", "/v1/memories/" + tea)["status"] == "forgotten"
    fails(MemoryNotFoundError, client.get, tea)
    client.batch_delete([{"memory_id": home}])
    assert client.get_all(filters=FILTERS)["count"] == 0
    add(client)
    client.delete_all(user_id=USER)
    assert v1("GET", "/v1/memories?user_id=py%2Fada")["memories"] == []

    imported(make, client)
    stranger = make(api_key=os.environ["COMPAT_OTHER_KEY"], host=HOST)
    tea, _ = add(client)
    fails(MemoryNotFoundError, stranger.get, tea)
    assert stranger.get_all(filters=FILTERS)["count"] == 0
    fails(AuthenticationError, client.delete_users, user_id=USER)
    reader = make(api_key=os.environ["COMPAT_READ_KEY"], host=HOST)
    fails(AuthenticationError, reader.add, "x", user_id=USER)
    complete(kind, client)
    fails(ValueError, make, api_key="unknown", host=HOST)

    admin = make(api_key=os.environ["COMPAT_ADMIN_KEY"], host=HOST)
    users = {user["name"]: user["total_memories"] for user in admin.users()["results"]}
    listed = {user["user_id"]: user["memories"] for user in v1("GET", "/v1/users")["users"]}
    assert users == listed and users[USER] == 2, (users, listed)
    admin.delete_users(user_id=USER)
    assert USER not in {user["name"] for user in admin.users()["results"]}
    admin.reset()
    assert v1("GET", "/v1/users")["users"] == []


main(MemoryClient, MemoryClient)
main(AsyncMemoryClient, blocking)

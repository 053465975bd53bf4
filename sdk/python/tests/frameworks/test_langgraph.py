"""The store in real LangGraph, and compared with its own store in memory."""

from __future__ import annotations

import random
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from hippocampus_memory import Hippocampus
from hippocampus_memory.langgraph import HippocampusStore


class State(TypedDict):
    words: str
    answer: str


def answer(state: State, config: RunnableConfig, *, store: BaseStore) -> dict[str, str]:
    """A scripted model: it keeps statements, and answers questions with what the store finds."""
    namespace = ("memories", config["configurable"]["user_id"])
    if state["words"].endswith("?"):
        found = store.search(namespace, query=state["words"], limit=1)
        return {"answer": found[0].value["content"] if found else "I do not know."}
    store.put(namespace, state["words"][:20], {"content": state["words"], "kind": "statement"})
    return {"answer": "Noted."}


def test_fact_of_one_thread_is_used_in_the_next(client: Hippocampus, user: str) -> None:
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph = builder.compile(store=HippocampusStore(client), checkpointer=InMemorySaver())

    def say(words: str, thread: str, of: str = user) -> str:
        config: RunnableConfig = {"configurable": {"thread_id": f"{of}-{thread}", "user_id": of}}
        return str(graph.invoke({"words": words, "answer": ""}, config)["answer"])

    assert say("I live in Lisbon.", "first") == "Noted."
    assert say("I prefer green tea over coffee.", "first") == "Noted."
    assert say("In which city do I live?", "second") == "I live in Lisbon."
    assert say("In which city do I live?", "third", user + "-other") == "I do not know."


def comparable(items: Any) -> Any:
    return sorted((item.namespace, item.key, sorted(item.value.items(), key=str)) for item in items)


@pytest.mark.parametrize("seed", range(4))
async def test_store_agrees_with_the_one_in_memory(client: Hippocampus, user: str, seed: int) -> None:
    rng = random.Random(seed)
    store, reference = HippocampusStore(client), InMemoryStore()
    base = ("memories", user)
    namespaces = [base, (*base, "work"), (*base, "work", "tasks"), (*base, "workshop"), (*base, "home")]
    keys = ["a", "b", "c/ä.1", "recipe"]

    def value() -> dict[str, Any]:
        some = {"content": f"Fact number {rng.randint(0, 9)}.", "n": rng.randint(0, 5), "tag": rng.choice("xyz")}
        return some | rng.choice([{}, {"done": rng.random() < 0.5}, {"more": {"list": [1, "two", None]}}])

    filters: list[dict[str, Any] | None] = [
        None, {"n": 3}, {"n": {"$gte": 2, "$lt": 5}}, {"tag": {"$ne": "x"}}, {"done": None}, {"done": True, "tag": "y"},
        {"content": "Fact number 4."},
    ]  # fmt: skip
    for _ in range(30):
        namespace, key = rng.choice(namespaces), rng.choice(keys)
        action = rng.choice(["put", "put", "put", "delete", "get", "search", "search", "page", "batch", "namespaces"])
        if action == "put":
            some = value()
            for each in (store, reference):
                await each.aput(namespace, key, some)
        elif action == "delete":
            for each in (store, reference):
                each.delete(namespace, key)
        elif action == "get":
            one, other = store.get(namespace, key), reference.get(namespace, key)
            assert comparable([one] if one else []) == comparable([other] if other else [])
        elif action == "search":
            chosen = rng.choice(filters)
            prefix = rng.choice([base, namespace])
            got, want = (each.search(prefix, filter=chosen, limit=100) for each in (store, reference))
            assert comparable(got) == comparable(want), chosen
        elif action == "page":
            limit, offset = rng.randint(1, 4), rng.randint(0, 3)
            got, want = (each.search(base, limit=limit, offset=offset) for each in (store, reference))
            assert len(got) == len(want)
        elif action == "batch":
            first, second = value(), value()
            put, get, search = PutOp(namespace, key, first), GetOp(namespace, key), SearchOp(base, limit=100)
            ops: Any = [put, get, search, PutOp(namespace, key, second)]
            ours: Any = await store.abatch(ops)
            theirs: Any = reference.batch(ops)
            assert comparable(filter(None, ours[1:2])) == comparable(filter(None, theirs[1:2]))
            assert comparable(ours[2]) == comparable(theirs[2])
        else:
            held = sorted({item.namespace for item in reference.search(base, limit=100)})
            assert store.list_namespaces(prefix=base) == held
            assert store.list_namespaces(prefix=base, suffix=("*", "tasks")) == [n for n in held if n[-1] == "tasks"]
            assert store.list_namespaces(prefix=base, max_depth=3) == sorted({n[:3] for n in held})


def test_search_by_a_query_ranks_items(client: Hippocampus, user: str) -> None:
    store = HippocampusStore(client)
    namespace = (user, "memories")  # the other order of the documentation of LangGraph
    store.put(namespace, "tea", {"content": "Prefers green tea over coffee.", "n": 1})
    store.put(namespace, "home", {"content": "Lives in Lisbon.", "n": 2})
    store.put((*namespace, "work"), "job", {"content": "Works as a marine biologist.", "n": 3})
    first, *_ = store.search(namespace, query="What does she drink?")
    assert (first.key, first.namespace) == ("tea", namespace)
    assert first.score is not None
    assert first.created_at.tzinfo is not None
    assert [item.key for item in store.search(namespace, query="What does she do?", filter={"n": {"$gt": 2}})] == [
        "job"
    ]
    assert [item.key for item in store.search(namespace, query="What does she drink?", limit=1, offset=1)] != ["tea"]
    store.put((*namespace, "x", *namespace, "work", "y"), "far", {"content": "Works in Lisbon.", "n": 9})
    for query in ("Lisbon", None):
        assert {item.key for item in store.search((*namespace, "work"), query=query)} == {"job"}
    assert namespace in store.list_namespaces(limit=10_000)  # of all users of the app


def test_item_keeps_its_history_and_survives_what_the_server_does(client: Hippocampus, user: str) -> None:
    store = HippocampusStore(client)
    namespace = ("memories", user)
    store.put(namespace, "home", {"content": "Lives in Lisbon."})
    (memory,) = client.memories(user_id=user)
    assert memory.pinned
    client.add_turn(user_id=user, messages=[{"role": "user", "content": "I live in Porto now."}], wait=True)
    item = store.get(namespace, "home")
    assert item is not None
    assert item.value == {"content": "Lives in Lisbon."}  # whether or not it was superseded
    store.put(namespace, "home", {"content": "Lives in Faro."})
    assert client.memory(memory.id).content == "Lives in Faro."
    assert client.memory(memory.id).status == "active"
    store.delete(namespace, "home")
    assert store.get(namespace, "home") is None
    assert client.memory(memory.id).status == "forgotten"


def test_learned_memories_are_items_if_wanted(client: Hippocampus, user: str) -> None:
    client.add_turn(user_id=user, messages=[{"role": "user", "content": "I live in Lisbon."}], wait=True)
    namespace = ("memories", user)
    assert HippocampusStore(client).search(namespace) == []
    store = HippocampusStore(client, learned=True)
    first, *_ = store.search(namespace, query="Where do I live?")
    assert "Lisbon" in first.value["content"]
    again = store.get(namespace, first.key)
    assert again is not None
    assert again.value["content"] == first.value["content"]
    store.put(namespace, "tea", {"content": "Likes tea."})
    assert store.get(namespace, "tea") is not None
    store.delete(namespace, first.key)
    assert store.get(namespace, first.key) is None


def test_what_is_no_memory_is_refused(client: Hippocampus, user: str) -> None:
    store = HippocampusStore(client)
    for wrong in (
        {"text": "Likes tea."},
        {"content": {"a": 1}},
        {"content": " "},
        {"content": "x", "langgraph_key": 1},
    ):
        with pytest.raises(ValueError, match=r"has no text \"content\"|uses itself"):
            store.put(("memories", user), "a", wrong)
    with pytest.raises(ValueError, match="names no user"):
        store.put(("documents", user), "a", {"content": "Likes tea."})
    with pytest.raises(ValueError, match="names no user"):
        store.search(("memories",))
    with pytest.raises(ValueError, match="use a text, a number"):
        store.search(("memories", user), filter={"n": {"$eq": [1]}})
    with pytest.raises(ValueError, match="unknown ones"):
        store.search(("memories", user), filter={"n": {"$in": [1]}})
    with pytest.raises(NotImplementedError):
        store.put(("memories", user), "a", {"content": "Likes tea."}, ttl=5)
    valid, wrong_one = {"content": "Likes tea."}, {"text": "x"}
    with pytest.raises(ValueError, match="has no text"):
        store.batch([PutOp(("memories", user), "a", valid), PutOp(("memories", user), "b", wrong_one)])
    assert store.get(("memories", user), "a") is None  # neither is written


def test_user_of_other_namespaces_is_a_function(client: Hippocampus, user: str) -> None:
    store = HippocampusStore(client, user=lambda namespace: namespace[2])
    store.put(("app", "users", user), "a", {"content": "Likes tea."})
    assert [item.namespace for item in store.search(("app", "users", user))] == [("app", "users", user)]

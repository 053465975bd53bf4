"""Hippocampus as a store of LangGraph (extra `langgraph`).

    ("memories", user, ...) or (user, "memories", ...), key -> a memory of the user
    {"content": text, NAME: value, ...}                     -> its content, and its metadata

The metadata also has the key, and the labels of the namespace joined by dots.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from . import models
from ._sync import Hippocampus

Namespace = tuple[str, ...]

KEY = "langgraph_key"
NAMESPACE = "langgraph_namespace"
HELD = ["active", "superseded", "consolidated"]
MOST_RECALLED = 100


def user_of(namespace: Namespace) -> str:
    """Returns the user of ("memories", user, ...) and of (user, "memories", ...)."""
    if len(namespace) >= 2 and "memories" in namespace[:2]:
        return namespace[1] if namespace[0] == "memories" else namespace[0]
    raise ValueError(
        f'the namespace {namespace} names no user: use ("memories", USER) or (USER, "memories"), '
        "or give the store a function of the namespace as user="
    )


class HippocampusStore(BaseStore):
    """Items are memories: they can be recalled by a query, fade never (they are pinned), and have a history.

    client   of the server; else one of $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY
    user     returns the user of a namespace, and raises ValueError if it names no user
    learned  whether searches also return what the server has learned of the user from turns; such items have the id of
             the memory as their key

    A value needs a text `content` of at most 4096 characters. Its other fields are kept in 8192 bytes of JSON. Filters
    compare fields with texts, numbers, booleans and null, by $eq, $ne, $gt, $gte, $lt and $lte. A search with a query
    returns at most 100 items. All items are indexed, whatever `index` is.
    """

    supports_ttl = False

    def __init__(
        self,
        client: Hippocampus | None = None,
        *,
        user: Callable[[Namespace], str] = user_of,
        learned: bool = False,
    ) -> None:
        self._client = client or Hippocampus()
        self._user = user
        self._learned = learned

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Performs operations, those that read before those that write. The last write of a key counts."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            result: Result = None
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            elif isinstance(op, GetOp):
                result = self._get(op)
            elif isinstance(op, SearchOp):
                result = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = self._list_namespaces(op)
            else:
                raise ValueError(f"{op!r} is no operation of a store")
            results.append(result)
        for op in puts.values():  # refused before anything is written
            fields(op)
            self._user(op.namespace)
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _held(self, namespace: Namespace, key: str) -> list[models.Memory]:
        """Returns the memories of an item; there are several if two writers have put it at the same time."""
        user = self._user(namespace)
        if self._learned and (memory := self._learned_memory(user, key)):
            return [memory]
        condition = {KEY: key, NAMESPACE: ".".join(namespace)}
        return list(self._client.memories(user_id=user, status=HELD, filter={"metadata": condition}))

    def _learned_memory(self, user: str, key: str) -> models.Memory | None:
        found = self._client.memories(user_id=user, status=HELD, filter={"id": key})
        return next((memory for memory in found if KEY not in (memory.metadata or {})), None)

    def _get(self, op: GetOp) -> Item | None:
        held = self._held(op.namespace, op.key)
        return Item(**item(held[0], op.namespace)) if held else None

    def _put(self, op: PutOp) -> None:
        held = self._held(op.namespace, op.key)
        for memory in held if op.value is None else held[1:]:
            self._client.forget(memory.id, scope="item")
        if op.value is None:
            return
        content, metadata = fields(op)
        metadata |= {KEY: op.key, NAMESPACE: ".".join(op.namespace)}
        if not held:
            self._client.remember(user_id=self._user(op.namespace), content=content, metadata=metadata, pinned=True)
            return
        if held[0].status != "active":
            self._client.restore(held[0].id)
        self._client.update(held[0].id, content=content, metadata=metadata)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        user = self._user(op.namespace_prefix)
        conditions = [condition(name, wanted) for name, wanted in (op.filter or {}).items()]
        if not self._learned:
            prefix = ".".join(op.namespace_prefix)
            within: list[Any] = [prefix, {"contains": prefix + "."}]
            conditions.append({"or": [{"metadata": {NAMESPACE: each}} for each in within]})
        chosen: dict[str, Any] = {"filter": {"and": conditions}} if conditions else {}
        found: Iterator[models.Memory | models.RecalledMemory]
        if op.query:
            limit = max(1, min(op.offset + op.limit, MOST_RECALLED))
            found = iter(self._client.recall(user_id=user, query=op.query, limit=limit, **chosen).memories)
        else:
            found = self._client.memories(user_id=user, status=HELD, limit=100, **chosen)
        items = []
        for memory in found:
            parts = item(memory, op.namespace_prefix)
            if parts["namespace"][: len(op.namespace_prefix)] == op.namespace_prefix:
                items.append(SearchItem(**parts, score=getattr(memory, "score", None)))
            if len(items) == op.offset + op.limit:
                break
        return items[op.offset : op.offset + op.limit]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        namespaces: set[Namespace] = set()
        for user in self._users(conditions):
            for memory in self._client.memories(user_id=user, status=HELD, limit=100):
                name = (memory.metadata or {}).get(NAMESPACE)
                if name and all(matches(tuple(name.split(".")), each) for each in conditions):
                    namespaces.add(tuple(name.split("."))[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _users(self, conditions: Iterable[MatchCondition]) -> Iterator[str]:
        """Yields the user whom a prefix names, or else all of the app, for which the key needs the role admin."""
        for condition in conditions:
            path = tuple(condition.path)
            if condition.match_type == "prefix" and "*" not in path:
                try:
                    yield self._user(path)
                    return
                except ValueError:
                    continue  # too short to name a user
        for user in self._client.users():
            yield user.user_id


def fields(op: PutOp) -> tuple[str, dict[str, Any]]:
    """Returns the content and the metadata of an item."""
    for label in op.namespace:
        if not isinstance(label, str) or not label or "." in label:
            raise ValueError(f"the namespace {op.namespace} has a label that is no text, is empty or has a dot")
    if op.value is None:
        return "", {}
    value = dict(op.value)
    content = value.pop("content", None)
    if not isinstance(content, str) or not content.strip():
        raise ValueError(
            f'the value of {op.key!r} has no text "content": Hippocampus stores statements, such as '
            '{"content": "Likes tea."}, with other fields as metadata; keep other documents in another store'
        )
    for name in (KEY, NAMESPACE):
        if name in value:
            raise ValueError(f"the value of {op.key!r} has the field {name}, which the store uses itself")
    return content, value


def item(memory: models.Memory | models.RecalledMemory, asked: Namespace) -> dict[str, Any]:
    """Returns the parts of an item. What was learned from turns is in the namespace that was asked for."""
    metadata = dict(memory.metadata or {})
    name = metadata.pop(NAMESPACE, None)
    return {
        "key": metadata.pop(KEY, memory.id),
        "namespace": tuple(name.split(".")) if name else asked,
        "value": {"content": memory.content, **metadata},
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def condition(name: str, wanted: Any) -> dict[str, Any]:
    """Returns the server's filter of a field and what it is compared with."""
    if isinstance(wanted, dict):
        wanted = {operator.removeprefix("$"): value for operator, value in wanted.items()}
        unknown = set(wanted) - {"eq", "ne", "gt", "gte", "lt", "lte"}
        if unknown or not wanted:
            raise ValueError(f"the filter of {name!r} has no operator or unknown ones: {sorted(unknown)}")
    for value in wanted.values() if isinstance(wanted, dict) else [wanted]:
        if isinstance(value, (dict, list, tuple)):
            raise ValueError(f"the filter of {name!r} compares with {value!r}: use a text, a number, a boolean or None")
    return {"content": wanted} if name == "content" else {"metadata": {name: wanted}}


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    """Reports whether a namespace begins or ends with a path, in which * is any label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(labels, path, strict=True))

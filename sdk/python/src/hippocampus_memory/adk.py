"""Hippocampus as the memory service of Google's Agent Development Kit (extra `adk`).

The methods run the sync client in threads, since Runner.run uses an event loop of its own for each call.
"""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, cast

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types
from typing_extensions import override

from . import models
from ._sync import Hippocampus
from ._wire import shortened
from .errors import ConflictError, InvalidError, NotFoundError

LONGEST_MESSAGE = 65536
"""In bytes of UTF-8."""
LONGEST_QUERY = 65536
"""In characters."""
FIELDS = ("type", "domain", "importance", "tags", "pinned")
"""Keys of custom_metadata that are fields of a memory; others become its metadata."""


class HippocampusMemoryService(BaseMemoryService):
    """Reports each event of a session as a turn, and searches by recall.

    uri     hippocampus://HOST:PORT, as `services.yaml` passes it; with ?tls=true by HTTPS, with ?wait=true for `wait`
    client  of the server; else one of the uri, with the key of $HIPPOCAMPUS_KEY
    wait    whether to wait until the gate has decided on each turn
    limit   the most memories that a search returns

    The user is ADK's user. A session is a conversation. The app_name is the agent_id: apps do not see each other's
    memories, but all see those of the user that have no agent.
    """

    def __init__(
        self,
        uri: str | None = None,
        *,
        client: Hippocampus | None = None,
        wait: bool = False,
        limit: int = 10,
        **_: object,  # such as agents_dir, which ADK passes
    ) -> None:
        options = urllib.parse.parse_qs(urllib.parse.urlsplit(uri or "").query)
        self._client = client or Hippocampus(server_url(uri) if uri else None)
        self._wait = wait or options.get("wait") == ["true"]
        self._limit = limit

    @override
    async def add_session_to_memory(self, session: Session) -> None:
        """Reports the events of a session. Those that were reported before are not stored twice."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    @override
    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Reports events, in their order; custom_metadata becomes the metadata of the turns.

        Events that the server refuses are left out, and named by the InvalidError that is raised after the last event.
        Of an event that was reported before with another text, the first text stays.
        """
        refused = []
        scope: dict[str, Any] = {"user_id": user_id, "agent_id": app_name}
        if session_id:
            scope["conversation_id"] = session_id
        if custom_metadata:
            scope["metadata"] = dict(custom_metadata)
        for event in events:
            said = text(event.content)
            if event.partial or not said:
                continue
            message = {"role": "user", "content": said}
            if event.author != "user":
                message = {"role": "assistant", "name": event.author, "content": said}
            turn = scope | {
                "id": f"adk:{session_id or ''}:{event.id}",
                "messages": [message],
                "at": datetime.fromtimestamp(event.timestamp, timezone.utc),
                "wait": self._wait,
            }
            try:
                await asyncio.to_thread(self._client.add_turn, **cast(Any, turn))
            except ConflictError:
                pass
            except InvalidError as error:
                refused.append(f"event {event.id}: {error}")
        if refused:
            raise InvalidError("invalid", "; ".join(refused), status=400)

    @override
    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Writes memories as given; what says the same as an older memory merges into it.

        The keys type, domain, importance, tags and pinned of custom_metadata are fields of the memory.
        """
        for entry in memories:
            metadata = {**(custom_metadata or {}), **entry.custom_metadata}
            memory: dict[str, Any] = {name: metadata.pop(name) for name in FIELDS if name in metadata}
            if entry.author:
                metadata["author"] = entry.author
            if entry.timestamp:
                memory["at"] = instant(entry.timestamp)
            memory |= {"user_id": user_id, "agent_id": app_name, "content": text(entry.content), "dedup": True}
            await asyncio.to_thread(self._client.remember, **cast(Any, memory), metadata=metadata)

    @override
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recalls what fits a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        answer = await asyncio.to_thread(
            self._client.recall,
            user_id=user_id, agent_id=app_name, query=query[:LONGEST_QUERY], limit=self._limit,
        )  # fmt: skip
        return SearchMemoryResponse(memories=[entry(memory) for memory in answer.memories])

    @override
    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets a memory. An id that the user or the app does not have changes nothing."""
        if not memory_id:
            return
        try:
            memory = await asyncio.to_thread(self._client.memory, memory_id)
        except (NotFoundError, InvalidError):
            return
        if memory.user_id == user_id and memory.agent_id in (None, app_name):
            await asyncio.to_thread(self._client.forget, memory_id)

    async def list_memories(
        self, *, app_name: str, user_id: str, memory_type: str | None = None, limit: int = 100
    ) -> list[MemoryEntry]:
        """Returns the newest memories of a user in an app, without those that all apps share."""
        kinds: Any = {"type": [memory_type]} if memory_type else {}

        def listed() -> list[MemoryEntry]:
            pages = self._client.memories(user_id=user_id, agent_id=app_name, limit=min(limit, 100), **kinds)
            return [entry(memory) for memory, _ in zip(pages, range(limit), strict=False)]

        return await asyncio.to_thread(listed)

    async def consolidate(
        self, session_id: str, mode: str = "full", *, user_id: str | None = None, wait: bool = False
    ) -> models.EndedConversation:
        """Consolidates a session: `fast` makes a summary, `deep` facts and insights, `full` both.

        user_id is needed only if sessions of several users have the same id.
        """
        options: Any = {"mode": mode, "wait": wait} | ({"user_id": user_id} if user_id else {})
        return await asyncio.to_thread(self._client.consolidate, session_id, **options)


def server_url(uri: str) -> str:
    """Returns the URL of hippocampus://HOST:PORT[/PREFIX][?tls=true]."""
    parts = urllib.parse.urlsplit(uri)
    scheme = "https" if urllib.parse.parse_qs(parts.query).get("tls") == ["true"] else "http"
    return f"{scheme}://{parts.netloc}{parts.path}".rstrip("/")


def text(content: types.Content | None) -> str:
    """Returns the words of a content, without thoughts and calls of functions."""
    parts = (content.parts if content else None) or []
    words = "\n".join(part.text for part in parts if part.text and not part.thought).strip()
    return shortened(words, LONGEST_MESSAGE)


def instant(timestamp: str) -> datetime:
    """Returns the time of an ISO 8601 text, in UTC if it names no time zone."""
    time = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def entry(memory: models.Memory | models.RecalledMemory) -> MemoryEntry:
    """Returns a memory as ADK shows it to the model."""
    metadata: dict[str, Any] = dict(memory.metadata or {})
    author = metadata.pop("author", None) or memory.said_by
    metadata |= {"type": memory.type, "domain": memory.domain, "importance": memory.importance}
    if isinstance(memory, models.RecalledMemory):
        metadata |= {"score": memory.score, "relevance": memory.relevance, "confidence": memory.confidence}
    return MemoryEntry(
        id=memory.id,
        content=types.Content(role="user", parts=[types.Part(text=memory.content)]),
        author=author,
        timestamp=memory.created_at.isoformat() if memory.created_at else None,
        custom_metadata=metadata,
    )

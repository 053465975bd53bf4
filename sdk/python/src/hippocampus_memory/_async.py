"""The client (asyncio)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel
from typing_extensions import Self, Unpack

from . import errors, models, requests
from ._policy import Policy, repeatable
from ._wire import (
    AsyncLines,
    EventReader,
    Late,
    Reset,
    Server,
    Splitter,
    announcement,
    bad_answer,
    chunks_async,
    decode,
    encode,
    expect,
    failure,
    is_last,
    items_of,
    path,
    present,
    query,
    refusal,
    whole,
)

T = TypeVar("T")

HEARTBEATS = 45.0  # seconds; the server sends a comment every 15
IMPORT = 300.0  # seconds in which the server answers after the last line of an import


class AsyncHippocampus:
    """A client of a Hippocampus server (asyncio).

    url           of the server; else $HIPPOCAMPUS_URL, else http://127.0.0.1:8080
    key           API key; else $HIPPOCAMPUS_KEY
    timeout       seconds of one attempt; of a stream (events, export, import), to connect, and between two pieces of it
    retries       attempts after the first one of a request that may be repeated
    longest_wait  seconds; a longer Retry-After ends the attempts
    http          a client of your own, with proxies or certificates; it is not closed with this one
    sleep         waits between attempts; for tests

    Methods raise HippocampusError. Their arguments are the fields of openapi.yaml, under the same names. Times are
    datetimes with a time zone, or RFC 3339.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        longest_wait: float = 60.0,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._server = Server.of(url, key)
        self._policy = Policy(timeout, retries, longest_wait)
        self._http = http or httpx.AsyncClient()
        self._owner = http is None
        self._sleep = sleep

    def with_options(
        self, *, timeout: float | None = None, retries: int | None = None, longest_wait: float | None = None
    ) -> AsyncHippocampus:
        """Returns a client with other options and the same connections, which the first one closes."""
        now = self._policy
        return AsyncHippocampus(
            self._server.url,
            self._server.key,
            timeout=now.timeout if timeout is None else timeout,
            retries=now.retries if retries is None else retries,
            longest_wait=now.longest_wait if longest_wait is None else longest_wait,
            http=self._http,
            sleep=self._sleep,
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owner:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # --- Requests -----------------------------------------------------------------

    async def send(
        self,
        method: str,
        route: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Sends a request to any route and returns the response, whose status is 2xx or 304.

        body is sent as JSON; content is sent as it is.
        """
        again = repeatable(method, route, body)
        attempt = 0
        while True:
            try:
                late = Late(self._policy.timeout)
                async with self._open(method, route, query, body, content, headers) as response:
                    pieces = []
                    async for piece in response.aiter_bytes():
                        late.check()
                        pieces.append(piece)
                    return whole(response, pieces)
            except errors.HippocampusError as error:
                wait = self._policy.wait(error, attempt) if again else None
                if wait is None:
                    raise
            await self._sleep(wait)
            attempt += 1

    async def request(
        self,
        answer: type[T],
        method: str,
        route: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
    ) -> T:
        """Sends a request to any route and returns its answer, as one of `models`.

        Fields of the query and of the body are those of `requests`: `request(models.SkillPage, "GET", "/v1/skills",
        query={"user_id": "ada"})`. Fields of the query that are None are left out.
        """
        return decode(answer, await self.send(method, route, query=query, body=body))

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        route: str,
        parameters: Mapping[str, Any] | None,
        body: object = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Makes one attempt, and yields the response before its body is read."""
        timeout = self._policy.timeout
        sent = self._server.headers() | dict(headers or {})
        if body is not None:
            content, sent["Content-Type"] = encode(body), "application/json"
        try:
            async with self._http.stream(
                method,
                self._server.url + route,
                params=query(parameters) if parameters else None,
                content=content,
                headers=sent,
                timeout=httpx.Timeout(timeout, read=max(timeout, read_timeout or 0)),
                follow_redirects=False,
            ) as response:
                if not response.is_success and response.status_code != 304:
                    await response.aread()
                    raise refusal(response)
                yield response
        except httpx.RequestError as error:
            raise failure(error) from error

    async def items(
        self, page: type[BaseModel], route: str, query: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Any]:
        """Yields the items of all pages of any listing: `items(models.JobPage, "/v1/jobs", {"kind": "forgetting"})`.

        page is the model of one page; its only list has the items. The next page is read when the last item of a page
        has been taken.
        """
        parameters = dict(query or {})
        while True:
            answer = await self.request(page, "GET", route, query=parameters)
            for item in items_of(answer):
                yield item
            cursor = getattr(answer, "next_cursor", None)
            if not cursor:
                return
            parameters["cursor"] = cursor

    # --- Turns and conversations --------------------------------------------------

    async def add_turn(self, **turn: Unpack[requests.TurnRequest]) -> models.Turn:
        """Reports what was said. The server decides what of it to remember.

        Without `id`, the turn has a random one, so that a repetition after a fault adds no second turn. With `replaces`
        it takes the place of an earlier turn, which is withdrawn.
        """
        return await self.request(models.Turn, "POST", "/v1/turns", body={"id": str(uuid.uuid4()), **present(turn)})

    async def turn(self, id: str) -> models.Turn:
        """Returns a turn, with its messages and what became of each candidate fact."""
        return await self.request(models.Turn, "GET", path("/v1/turns/{}", id))

    def turns(self, **parameters: Unpack[requests.ListTurnsQuery]) -> AsyncIterator[models.Turn]:
        """Yields turns, newest first."""
        return self.items(models.TurnPage, "/v1/turns", {**parameters})

    async def withdraw_turn(self, id: str) -> models.WithdrawnTurn:
        """Takes back a turn that the user has edited or deleted, or whose answer is generated again.

        What was remembered of it is forgotten, and what it superseded is active again; no restore undoes that. An
        edited message needs no call of its own: report it with `replaces`.
        """
        return await self.request(models.WithdrawnTurn, "DELETE", path("/v1/turns/{}", id))

    async def replay_turn(self, id: str) -> models.Turn:
        """Queues a failed turn again, for an operator who has mended the cause."""
        return await self.request(models.Turn, "POST", path("/v1/turns/{}/replay", id))

    def conversations(
        self, **parameters: Unpack[requests.ListConversationsQuery]
    ) -> AsyncIterator[models.Conversation]:
        """Yields conversations of a user, the latest first."""
        return self.items(models.ConversationPage, "/v1/conversations", {**parameters})

    def conversation_turns(
        self, id: str, **parameters: Unpack[requests.GetConversationQuery]
    ) -> AsyncIterator[models.Turn]:
        """Yields what was said in a conversation, oldest first, with the messages: to show a chat again."""
        return self.items(models.ConversationTurns, path("/v1/conversations/{}", id), {**parameters})

    async def rename_conversation(
        self, id: str, title: str, **parameters: Unpack[requests.UpdateConversationQuery]
    ) -> models.Conversation:
        """Gives a conversation a title, for a list of chats."""
        url, body = path("/v1/conversations/{}", id), {"title": title}
        return await self.request(models.Conversation, "PATCH", url, query=parameters, body=body)

    async def delete_conversation(
        self, id: str, **parameters: Unpack[requests.DeleteConversationQuery]
    ) -> models.DeletedConversation:
        """Deletes a conversation with its turns, for good, when the user deletes a chat.

        The memories of it stay, unless `memories` is "forget".
        """
        url = path("/v1/conversations/{}", id)
        return await self.request(models.DeletedConversation, "DELETE", url, query=parameters)

    async def end_conversation(
        self, id: str, **options: Unpack[requests.EndConversationRequest]
    ) -> models.EndedConversation:
        """Ends a conversation, which leaves a summary and, with a language model, facts and insights."""
        return await self.request(
            models.EndedConversation, "POST", path("/v1/conversations/{}/end", id), body=present(options)
        )

    async def consolidate(self, id: str, **options: Unpack[requests.ConsolidateRequest]) -> models.EndedConversation:
        """Consolidates a conversation, which stays open."""
        return await self.request(
            models.EndedConversation, "POST", path("/v1/conversations/{}/consolidate", id), body=present(options)
        )

    # --- Memories -----------------------------------------------------------------

    async def remember(self, **memory: Unpack[requests.MemoryRequest]) -> models.WrittenMemory:
        """Writes a memory as given. The next recall can find it."""
        return await self.request(models.WrittenMemory, "POST", "/v1/memories", body=present(memory))

    async def remember_many(self, memories: Iterable[requests.MemoryRequest]) -> list[models.MemoryBatchResult]:
        """Writes up to 1,000 memories, for an import. Each has a result of its own, in this order: look at `error`."""
        body = {"memories": [present(memory) for memory in memories]}
        return (await self.request(models.MemoryBatchAnswer, "POST", "/v1/memories/batch", body=body)).results

    async def memory(self, id: str, **parameters: Unpack[requests.GetMemoryQuery]) -> models.Memory:
        """Returns a memory in any status."""
        return await self.request(models.Memory, "GET", path("/v1/memories/{}", id), query=parameters)

    def memories(self, **parameters: Unpack[requests.ListMemoriesQuery]) -> AsyncIterator[models.Memory]:
        """Yields memories of a user, newest first; active ones unless `status` names others."""
        return self.items(models.MemoryPage, "/v1/memories", {**parameters})

    async def update(self, id: str, **changes: Unpack[requests.MemoryPatch]) -> models.Memory:
        """Changes a memory. `metadata` and `tags` replace the old ones."""
        return await self.request(models.Memory, "PATCH", path("/v1/memories/{}", id), body=present(changes))

    async def forget(self, id: str, **parameters: Unpack[requests.ForgetMemoryQuery]) -> models.ChangedMemory:
        """Forgets a memory with all that states the same, until `restore`; with `scope="item"` the memory alone."""
        return await self.request(models.ChangedMemory, "DELETE", path("/v1/memories/{}", id), query={**parameters})

    async def restore(self, id: str, **parameters: Unpack[requests.RestoreMemoryQuery]) -> models.ChangedMemory:
        """Makes a forgotten or superseded memory active again, with what was forgotten with it."""
        url = path("/v1/memories/{}/restore", id)
        return await self.request(models.ChangedMemory, "POST", url, query={**parameters})

    async def forget_many(self, **selection: Unpack[requests.ForgetMemoriesRequest]) -> models.ForgetMemoriesAnswer:
        """Forgets memories by `ids`, or what a user's turn, conversation or filter selects, up to 500.

        Repeat the request while the answer has `more`. With `dry_run` nothing is changed.
        """
        body = present(selection)
        return await self.request(models.ForgetMemoriesAnswer, "POST", "/v1/memories/forget", body=body)

    async def restore_many(self, **ids: Unpack[requests.RestoreMemoriesRequest]) -> models.RestoreMemoriesAnswer:
        """Makes memories active that were forgotten, superseded or consolidated. Each id has a result of its own."""
        return await self.request(models.RestoreMemoriesAnswer, "POST", "/v1/memories/restore", body=present(ids))

    async def undo(self, id: str) -> models.UndoReport:
        """Takes back a reflection or summary, such as one that the user calls wrong.

        It is forgotten, and what was condensed into it is active again.
        """
        return await self.request(models.UndoReport, "POST", path("/v1/memories/{}/undo", id))

    async def pin(self, id: str) -> models.Memory:
        """Exempts a memory from forgetting."""
        return await self.update(id, pinned=True)

    async def unpin(self, id: str) -> models.Memory:
        """Makes a memory subject to forgetting again."""
        return await self.update(id, pinned=False)

    async def history(self, id: str) -> list[models.MemoryEvent]:
        """Returns what happened to a memory, oldest first."""
        answer = await self.request(models.MemoryHistory, "GET", path("/v1/memories/{}/history", id))
        return answer.events

    # --- Recall -------------------------------------------------------------------

    async def recall(self, **recall: Unpack[requests.RecallRequest]) -> models.RecallAnswer:
        """Returns the memories that a query recalls, best first."""
        return await self.request(models.RecallAnswer, "POST", "/v1/recall", body=present(recall))

    async def context(self, **context: Unpack[requests.ContextRequest]) -> models.ContextAnswer:
        """Returns a text for the prompt, within a budget: instructions, facts, memories and the conversation."""
        return await self.request(models.ContextAnswer, "POST", "/v1/context", body=present(context))

    # --- Facts --------------------------------------------------------------------

    def facts(self, **parameters: Unpack[requests.ListFactsQuery]) -> AsyncIterator[models.Fact]:
        """Yields the timeline facts that are valid, or were valid `at` an instant."""
        return self.items(models.FactPage, "/v1/facts", {**parameters})

    def fact_history(self, **parameters: Unpack[requests.ListFactHistoryQuery]) -> AsyncIterator[models.Fact]:
        """Yields all that was stated of a type and key, accepted or not, oldest first: why a fact holds."""
        return self.items(models.FactPage, "/v1/facts/history", {**parameters})

    async def state_fact(self, **fact: Unpack[requests.FactRequest]) -> models.FactOutcome:
        """States what is valid of a user, and from when on."""
        return await self.request(models.FactOutcome, "PUT", "/v1/facts", body=present(fact, "value"))

    async def end_fact(self, **parameters: Unpack[requests.EndFactQuery]) -> models.Fact:
        """States that a fact is valid no more."""
        return await self.request(models.Fact, "DELETE", "/v1/facts", query=parameters)

    # --- Maintenance --------------------------------------------------------------

    async def reflect(self, **options: Unpack[requests.ReflectRequest]) -> models.ReflectionReport:
        """Condenses facts of a user into insights. A language model may take longer than the timeout."""
        return await self.request(models.ReflectionReport, "POST", "/v1/reflect", body=present(options))

    async def compress(self, **options: Unpack[requests.CompressRequest]) -> models.CompressionReport:
        """Condenses old memories of a user. A language model may take longer than the timeout."""
        return await self.request(models.CompressionReport, "POST", "/v1/compress", body=present(options))

    async def forget_preview(self, **options: Unpack[requests.ForgetRequest]) -> models.ForgettingReport:
        """Returns which memories of a user would be forgotten, and when the others fade."""
        return await self.request(
            models.ForgettingReport, "POST", "/v1/forget", body={**present(options), "dry_run": True}
        )

    async def forget_run(self, **options: Unpack[requests.ForgetRequest]) -> models.ForgettingReport:
        """Forgets the memories of a user that have faded."""
        return await self.request(
            models.ForgettingReport, "POST", "/v1/forget", body={**present(options), "dry_run": False}
        )

    def candidates(self, **parameters: Unpack[requests.ListCandidatesQuery]) -> AsyncIterator[models.Candidate]:
        """Yields proposed facts with their verdicts, newest first."""
        return self.items(models.CandidatePage, "/v1/candidates", {**parameters})

    async def promote(self, **request: Unpack[requests.PromoteRequest]) -> models.Promotion:
        """Makes memories of candidates that the gate refused."""
        return await self.request(models.Promotion, "POST", "/v1/candidates/promote", body=present(request))

    async def stats(self, **parameters: Unpack[requests.GetStatsQuery]) -> models.Stats:
        """Returns counts of what the app holds."""
        return await self.request(models.Stats, "GET", "/v1/stats", query=parameters)

    def users(self, **parameters: Unpack[requests.ListUsersQuery]) -> AsyncIterator[models.UserSummary]:
        """Yields the users of the app."""
        return self.items(models.UserPage, "/v1/users", {**parameters})

    async def user(self, user_id: str) -> models.UserHoldings:
        """Counts what is kept of a user, and returns the user's time zone."""
        return await self.request(models.UserHoldings, "GET", path("/v1/users/{}", user_id))

    async def set_user(self, user_id: str, **user: Unpack[requests.UserRequest]) -> models.UserZone:
        """Sets the time zone in which a user's days are; without it the offset of the turns decides."""
        return await self.request(models.UserZone, "PUT", path("/v1/users/{}", user_id), body=present(user))

    async def profile(self, user_id: str, **parameters: Unpack[requests.GetProfileQuery]) -> models.Profile:
        """Returns what holds about a user whatever is asked, the most important first.

        Use it where there is no query yet, such as at the start of a chat. It counts as no access.
        """
        return await self.request(models.Profile, "GET", path("/v1/users/{}/profile", user_id), query=parameters)

    async def erase_user(self, user_id: str) -> models.ErasureReceipt:
        """Erases a user from every store, for good."""
        return await self.request(models.ErasureReceipt, "DELETE", path("/v1/users/{}", user_id))

    async def ready(self) -> models.Readiness:
        """Returns which parts of the server are available. It fails (503) if the server cannot work."""
        return await self.request(models.Readiness, "GET", "/readyz")

    # --- Streams ------------------------------------------------------------------

    async def export(self, **parameters: Unpack[requests.ExportMemoriesQuery]) -> AsyncIterator[bytes]:
        """Yields the lines of an export, as JSON with a newline each: write them to a file, or json.loads() them.

        It raises BadAnswerError or UnreachableError if the export breaks off.
        """
        attempt = 0
        while True:
            begun = False
            try:
                async with self._open("GET", "/v1/export", parameters) as response:
                    expect("application/x-ndjson", response)
                    begun, complete, splitter = True, False, Splitter()
                    async for chunk in response.aiter_bytes():
                        for line in splitter.feed(chunk):
                            complete = is_last(line, response)
                            yield line + b"\n"
                    if not complete:
                        raise bad_answer(response, "the export broke off: it has no line `end`")
                    return
            except errors.HippocampusError as error:
                wait = None if begun else self._policy.wait(error, attempt)
                if wait is None:
                    raise
            await self._sleep(wait)
            attempt += 1

    async def import_(self, lines: AsyncLines) -> models.ImportReport:
        """Sends the lines of an export, such as a file that was opened with "rb". What exists already is skipped."""
        headers = {"Content-Type": "application/x-ndjson"}
        content = chunks_async(lines)
        async with self._open("POST", "/v1/import", None, None, content, headers, IMPORT) as response:
            await response.aread()
            return decode(models.ImportReport, response)

    async def events(
        self, **parameters: Unpack[requests.StreamEventsQuery]
    ) -> AsyncIterator[models.Announcement | Reset]:
        """Yields events as they happen, or those since the event `after`, until the caller stops.

        After a cut the stream resumes after the last event. It fails when as many streams in a row bring nothing as
        a request may have attempts. A Reset states that events may have been missed. Events of unknown kinds are left
        out.
        """
        reader = EventReader(parameters.get("after"))
        attempt = 0
        while True:
            headers = {"Last-Event-ID": reader.last_id} if reader.last_id else None
            last, anything = reader.last_id, False
            try:
                async with self._open("GET", "/v1/events", parameters, None, None, headers, HEARTBEATS) as response:
                    expect("text/event-stream", response)
                    splitter = Splitter()
                    async for chunk in response.aiter_bytes():
                        for line in splitter.feed(chunk):
                            event = reader.feed(line)
                            anything = anything or event is not None or reader.last_id != last
                            if event is not None and (known := announcement(*event, response)) is not None:
                                yield known
                raise errors.error("unreachable", "the stream of events has ended")
            except errors.HippocampusError as error:
                wait = self._policy.wait(error, 0 if anything else attempt)
                if wait is None:
                    raise
            reader = EventReader(reader.last_id)
            await self._sleep(wait)
            attempt = 0 if anything else attempt + 1
